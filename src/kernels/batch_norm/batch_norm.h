// Norms of channels. A tensor is (outer, channels, inner); a channel has outer * inner elements, n
// of them. In training:
//   mean = sum x / n    rstd = 1 / sqrt(sum (x - mean)^2 / n + epsilon)
//   y = (x - mean) rstd gamma + beta
//   running_mean = (1 - momentum) running_mean + momentum mean, and running_variance the same with
//   sum (x - mean)^2 / (n - 1)
// Inference takes the running statistics in place of the batch's. Backward, with h = (x - mean)
// rstd:
//   dgamma = sum dy h    dbeta = sum dy    dx = gamma rstd (dy - dbeta / n - h dgamma / n)
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::batch_norm {

enum class Op : uint8_t { train, infer, backward };

struct Args {
  Op op = Op::train;
  const void* x = nullptr;            // (outer, channels, inner)
  const void* gamma = nullptr;        // (channels), and all below but y, dy and dx; null: ones
  const void* beta = nullptr;         // null: zeros
  float* running_mean = nullptr;      // changed by training, where it may be null
  float* running_variance = nullptr;  // the same
  float* mean = nullptr;              // an output that may be null; backward an input
  float* rstd = nullptr;              // the same
  void* y = nullptr;                  // (outer, channels, inner); may be x
  const void* dy = nullptr;           // the same shape
  void* dx = nullptr;                 // the same shape; may be x or dy
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  int64_t outer = 0, channels = 0, inner = 0;
  float epsilon = 0, momentum = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // see slices.cuh
  size_t workspace_bytes = 0;

  __host__ __device__ int64_t count() const { return outer * inner; }  // elements of a channel
  __host__ __device__ int64_t elements() const { return count() * channels; }
};
using Rung = RungOf<Args>;

// How often the tensor's bytes move, if x (and dy) are read `reads` times in all.
inline double bytes(const Args& a, int reads) {
  const double one = double(a.elements()) * double(size_of(a.dtype));
  return one * ((a.op == Op::backward ? 2 : 1) * reads + 1);
}

}  // namespace ridge::batch_norm
