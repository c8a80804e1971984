// Elements of any format, decided when the kernel runs: what the first rungs do.
#pragma once

#include "device/convert.cuh"
#include "kernels/quantisation/rules.cuh"

namespace ridge::quantisation {

__device__ __forceinline__ float load_any(const void* from, Dtype dtype, int64_t at) {
  if (dtype == Dtype::f32) return static_cast<const float*>(from)[at];
  if (dtype == Dtype::f16) return to_float(static_cast<const __half*>(from)[at]);
  return to_float(static_cast<const __nv_bfloat16*>(from)[at]);
}
__device__ __forceinline__ void store_any(void* to, Dtype dtype, int64_t at, float x) {
  if (dtype == Dtype::f32) static_cast<float*>(to)[at] = x;
  else if (dtype == Dtype::f16) static_cast<__half*>(to)[at] = from_float<__half>(x);
  else static_cast<__nv_bfloat16*>(to)[at] = from_float<__nv_bfloat16>(x);
}
__device__ __forceinline__ float load_x(const Args& a, int64_t r, int64_t c) {
  return load_any(a.x, a.dtype, r * a.x_stride + c);
}

// The bits of x / scale.
__device__ __forceinline__ uint32_t encoded(Dtype element, float x, float scale) {
  const float quotient = is_divisor(scale) ? x / scale : 0;
  switch (element) {
    case Dtype::i8: return narrow<Dtype::i8>(quotient);
    case Dtype::e4m3: return narrow<Dtype::e4m3>(quotient);
    case Dtype::e5m2: return narrow<Dtype::e5m2>(quotient);
    case Dtype::e2m1: return narrow<Dtype::e2m1>(quotient);
    default: return narrow<Dtype::nf4>(quotient);
  }
}
__device__ __forceinline__ float decoded(Dtype element, uint32_t bits) {
  switch (element) {
    case Dtype::i8: return widen<Dtype::i8>(bits);
    case Dtype::e4m3: return widen<Dtype::e4m3>(bits);
    case Dtype::e5m2: return widen<Dtype::e5m2>(bits);
    case Dtype::e2m1: return widen<Dtype::e2m1>(bits);
    default: return widen<Dtype::nf4>(bits);
  }
}
// Elements that share a byte: a thread stores both.
__device__ __forceinline__ int elements_per_byte(const Args& a) {
  return a.element == Dtype::e2m1 || a.element == Dtype::nf4 ? 2 : 1;
}
inline int elements_per_byte_of(const Args& a) { return is_packed(a.element) ? 2 : 1; }

__device__ __forceinline__ int64_t block_of(const Args& a, int64_t r, int64_t c) {
  return r / a.blocks.block_rows * a.blocks.across + c / a.blocks.block_cols;
}
// The number that element (r, c) of q stands for.
__device__ __forceinline__ float weight(const Args& a, int64_t r, int64_t c) {
  const int64_t i = r * a.cols + c;
  const auto* const q = static_cast<const uint8_t*>(a.q);
  const uint32_t bits = elements_per_byte(a) == 2 ? q[i / 2] >> i % 2 * 4 & 15u : q[i];
  return decoded(a.element, bits) * stored_scale(a, block_of(a, r, c));
}

}  // namespace ridge::quantisation
