// vote: y = x >= 0 ? S(x / 2) : 1 - S(-x / 4), where S(a) = 1 + a + a^2 + …, and which elements
// took the first branch, one bit per element. A study of what it costs when the lanes of a warp
// disagree, and how they tell each other.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::vote {

constexpr int kLanes = 32;
constexpr int kSteps = 24;  // of the series

// By Horner's rule, in a loop: `steps` is no constant, so that the compiler leaves two of them two.
template <class Real>
__host__ __device__ constexpr Real series(Real a, int steps) {
  Real sum = 1;
  for (int k = 0; k < steps; ++k) sum = sum * a + 1;
  return sum;
}

struct Args {
  const float* x = nullptr;   // (n)
  float* y = nullptr;         // (n)
  uint32_t* first = nullptr;  // (n / 32, rounded up): a bit for each element
  int64_t n = 0;
  int steps = kSteps;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr int64_t masks(int64_t n) { return (n + kLanes - 1) / kLanes; }

}  // namespace ridge::vote
