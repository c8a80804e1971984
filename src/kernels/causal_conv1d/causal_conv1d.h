// The causal convolution of state-space models: every channel has a filter of its own, which sees
// an element and the width - 1 before it. Before the first element there are zeros.
//   z[b, c, t] = bias[c] + sum over k of w[c, k] x[b, c, t - (width - 1) + k]
//   y = z, or silu(z) = z / (1 + exp(-z))
// Backward, with g = dy, or dy silu'(z):
//   dx[b, c, t] = sum over k of w[c, k] g[b, c, t + (width - 1) - k], as far as there are elements
//   dw[c, k] = sum over b, t of g[b, c, t] x[b, c, t - (width - 1) + k]
//   dbias[c] = sum over b, t of g[b, c, t]
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::causal_conv1d {

// In the order of operators().
enum class Op : uint8_t { forward, backward };

constexpr int kLeastWidth = 2, kMostWidth = 4;

struct Args {
  bool backward = false, silu = false;
  const void* x = nullptr;     // (batch, channels, length)
  const void* w = nullptr;     // (channels, width)
  const void* bias = nullptr;  // (channels); null: zeros
  void* y = nullptr;           // (batch, channels, length)
  const void* dy = nullptr;    // (batch, channels, length), and all below: backward only
  void* dx = nullptr;          // (batch, channels, length)
  float* dw = nullptr;         // (channels, width)
  float* dbias = nullptr;      // (channels)
  int64_t batch = 0, channels = 0, length = 0;
  int width = 0;
  int64_t x_stride = 0, y_stride = 0, dy_stride = 0, dx_stride = 0;  // from row to row
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // backward only: see partials.cuh
  size_t workspace_bytes = 0;

  __host__ __device__ int64_t rows() const { return batch * channels; }
};
using Rung = RungOf<Args>;

inline double bytes(const Args& a) {
  return (a.backward ? 3.0 : 2.0) * double(a.rows()) * double(a.length) * double(size_of(a.dtype));
}

}  // namespace ridge::causal_conv1d
