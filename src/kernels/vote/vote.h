// vote: y = x >= 0 ? A(x) : B(x), two polynomials, and which elements took A, a bit each. A study
// of what it costs when the lanes of a warp disagree, and how they find out.
#pragma once

#include <span>

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::vote {

constexpr int kLanes = 32;
constexpr int kDegree = 24;

// A = 1 + x / 2 + x^2 / 3 + …; B = 1 - x / 3 + x^2 / 5 - …
template <class Real>
__host__ __device__ constexpr Real coefficient(bool is_a, int k) {
  if (is_a) return Real(1) / Real(k + 1);
  return (k % 2 ? Real(-1) : Real(1)) / Real(2 * k + 1);
}
template <class Real, bool IsA>
__host__ __device__ constexpr Real polynomial(Real x) {
  Real y = coefficient<Real>(IsA, kDegree);
  for (int k = kDegree - 1; k >= 0; --k) y = y * x + coefficient<Real>(IsA, k);
  return y;
}

struct Args {
  const float* x = nullptr;    // (n)
  float* y = nullptr;          // (n)
  uint32_t* took_a = nullptr;  // (n / 32, rounded up)
  int64_t n = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;
std::span<const Rung* const> rungs();

constexpr int64_t masks(int64_t n) { return (n + kLanes - 1) / kLanes; }

}  // namespace ridge::vote
