// One row of the causal convolution: its taps, and what the passes do with an element.
#pragma once

#include "device/activations.cuh"
#include "device/convert.cuh"
#include "kernels/causal_conv1d/causal_conv1d.h"

namespace ridge::causal_conv1d {

template <class T, int kWidth>
struct Taps {
  float w[kWidth], bias;

  __device__ __forceinline__ Taps(const Args& a, int64_t channel)
      : bias(a.bias ? to_float(static_cast<const T*>(a.bias)[channel]) : 0) {
#pragma unroll
    for (int k = 0; k < kWidth; ++k)
      w[k] = to_float(static_cast<const T*>(a.w)[channel * kWidth + k]);
  }
  // Of element i, with x[0] the element width - 1 before it.
  __device__ __forceinline__ float sum(const float* x) const {
    float z = bias;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) z += w[k] * x[k];
    return z;
  }
};

template <class T>
__device__ __forceinline__ float activated(const Args& a, float z) {
  return a.silu ? activations::Silu<T>().value(z) : z;
}
template <class T>
__device__ __forceinline__ float gradient(const Args& a, float z, float dy) {
  return a.silu ? activations::Silu<T>().gradient(z, dy) : dy;
}

// An element of a row; 0 outside of it.
template <class T>
__device__ __forceinline__ float element(const Args& a, const T* row, int64_t i) {
  return i >= 0 && i < a.length ? to_float(row[i]) : 0.0f;
}

// Calls f(T(), std::integral_constant<int, width>()).
template <class F>
Status with_type_and_width(const Args& a, F f) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    switch (a.width) {
      case 2: return f(t, std::integral_constant<int, 2>());
      case 3: return f(t, std::integral_constant<int, 3>());
      default: return f(t, std::integral_constant<int, 4>());
    }
  });
}

// Segments of rows, one per block.
__host__ __device__ inline int64_t segments(const Args& a, int elements) {
  return (a.length + elements - 1) / elements;
}
// The segment of this block. There are fewer than 2^31.
struct Segment {
  unsigned row, channel;
  int64_t first;  // element

  __device__ __forceinline__ Segment(const Args& a, int elements) {
    const auto per_row = unsigned(segments(a, elements));
    row = blockIdx.x / per_row;
    channel = row % unsigned(a.channels);
    first = int64_t(blockIdx.x % per_row) * elements;
  }
};
inline Support supports_segments(const Args& a, int elements) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  return double(a.rows()) * double(segments(a, elements)) < double(int64_t(1) << 31)
             ? kSupported
             : "takes fewer than 2^31 blocks";
}

}  // namespace ridge::causal_conv1d
