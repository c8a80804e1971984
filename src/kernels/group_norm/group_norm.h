// Norms of groups of channels. A tensor is (n, groups, depth, inner), where a group has `depth`
// channels; a row is what one sample has of one group, depth * inner elements that lie together.
//   mean = sum x / cols    rstd = 1 / sqrt(sum (x - mean)^2 / cols + epsilon)
//   h = (x - mean) rstd    y = h gamma + beta, with a gamma and a beta per channel
// Backward, with g = dy gamma:
//   dx = rstd (g - sum g / cols - h sum (g h) / cols)    dgamma = sum dy h    dbeta = sum dy
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::group_norm {

struct Args {
  bool backward = false;
  const void* x = nullptr;      // (n, groups, depth, inner)
  const void* gamma = nullptr;  // (groups, depth); null: ones
  const void* beta = nullptr;   // (groups, depth); null: zeros
  void* y = nullptr;            // (n, groups, depth, inner); may be x
  float* mean = nullptr;        // (n, groups): an output that may be null; backward an input
  float* rstd = nullptr;        // the same
  const void* dy = nullptr;     // (n, groups, depth, inner)
  void* dx = nullptr;           // the same; may be x or dy
  float* dgamma = nullptr;      // (groups, depth)
  float* dbeta = nullptr;       // (groups, depth)
  int64_t n = 0, groups = 0, depth = 0, inner = 0;
  float epsilon = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // see lines.cuh
  size_t workspace_bytes = 0;

  __host__ __device__ int64_t rows() const { return n * groups; }
  __host__ __device__ int64_t cols() const { return depth * inner; }
  __host__ __device__ int64_t channels() const { return groups * depth; }
  __host__ __device__ int64_t runs() const { return n * channels(); }  // of `inner` elements
  __host__ __device__ int64_t elements() const { return rows() * cols(); }
};
using Rung = RungOf<Args>;

// How many bytes move, if x (and dy) are read `reads` times in all.
inline double bytes(const Args& a, int reads) {
  const double one = double(a.elements()) * double(size_of(a.dtype));
  return one * ((a.backward ? 2 : 1) * reads + 1);
}

}  // namespace ridge::group_norm
