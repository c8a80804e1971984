// Jacobi's method: every inner element becomes the mean of its neighbours, all at once, several
// times. Elements of the border keep their values.
//   2D: 4 neighbours, above, below, left and right; 3D: 6, also in front and behind
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::jacobi {

// In the order of operators().
enum class Op : uint8_t { jacobi2d, jacobi3d };

// The kernels know three dimensions; two-dimensional grids have depth 1.
struct Args {
  bool is_3d = false;
  const float* x = nullptr;  // (depth, height, width)
  float* y = nullptr;        // (depth, height, width); overlaps nothing of x
  int64_t depth = 1, height = 0, width = 0;
  int64_t iterations = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // another y: see turns.cuh
  size_t workspace_bytes = 0;

  __host__ __device__ int64_t count() const { return depth * height * width; }
};
using Rung = RungOf<Args>;

// Of one iteration that reads each element once.
inline double bytes(const Args& a) { return 8.0 * double(a.count()); }

}  // namespace ridge::jacobi
