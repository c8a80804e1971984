// From the largest magnitude of a block to its scale, and from there to what elements are divided
// by. Every step is one f32 operation, in the order of core/block_scaled.cpp.
#pragma once

#include "device/lanes.cuh"
#include "device/low_precision_pack.cuh"
#include "kernels/quantisation/quantisation.h"

namespace ridge::quantisation {

constexpr uint32_t kInfinityBits = 0x7f800000u, kNanBits = 0x7fffffffu;

// Magnitudes are compared as bits: in this order whatever is not finite is the largest.
__device__ __forceinline__ uint32_t magnitude_bits(float x) {
  return __float_as_uint(x) & 0x7fffffffu;
}
// The largest magnitude as a number; NaN if an element is not finite.
__device__ __forceinline__ float amax_of(uint32_t bits) {
  return __uint_as_float(bits < kInfinityBits ? bits : kNanBits);
}
__device__ __forceinline__ uint32_t lanes_max_bits(uint32_t x, int lanes) {
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
    if (distance < lanes) x = max(x, __shfl_xor_sync(kAllLanes, x, distance));
  return x;
}

// 2^(floor(log2 amax) - power) as ue8m0, by exponents alone; the smallest for 0.
__device__ __forceinline__ uint32_t power_scale(float amax, int power) {
  if (!(amax == amax)) return 0xff;
  return uint32_t(max(int(__float_as_uint(amax) >> 23) - power, 0));
}
// The scale of a block under that of the tensor, as ue4m3.
__device__ __forceinline__ uint32_t shared_scale(float scale, float tensor_scale) {
  return narrow<Dtype::ue4m3>(tensor_scale == 0 && scale == scale ? 0 : scale / tensor_scale);
}
// The scale of the tensor that the largest magnitude of all its finite blocks asks for.
__device__ __forceinline__ float tensor_scale_of(const Args& a, float amax) {
  constexpr float kLargestScale = 448;  // of ue4m3
  return amax / (a.rule == Rule::shared ? a.largest * kLargestScale : a.largest);
}

// Stores the scale of a block, unless it is stored later (Rule::mean), and returns what its
// elements are divided by.
__device__ __forceinline__ float make_scale(const Args& a, int64_t block, float amax,
                                            float tensor_scale, bool stores) {
  if (a.rule == Rule::mean) return amax;
  if (a.rule == Rule::ratio) {
    const float scale = amax / a.largest;
    if (stores) static_cast<float*>(a.scales)[block] = scale;
    return scale;
  }
  const bool is_power = a.rule == Rule::power;
  const uint32_t code =
      is_power ? power_scale(amax, a.power) : shared_scale(amax / a.largest, tensor_scale);
  if (stores) static_cast<uint8_t*>(a.scales)[block] = uint8_t(code);
  return is_power ? widen<Dtype::ue8m0>(code) : widen<Dtype::ue4m3>(code) * tensor_scale;
}

// The f32 that a stored ue4m3 stands for under the scale of the tensor.
__device__ __forceinline__ float shared_scale_in_f32(uint32_t code, float tensor_scale) {
  const uint32_t size = code & 0x7f;
  const float scale = __uint_as_float(size << 20) * 0x1p120f * tensor_scale;
  return size == 0x7f ? __uint_as_float(kNanBits) : scale;
}
// The scale of a block as it is stored, in f32.
template <Rule R>
__device__ __forceinline__ float stored_scale(const Args& a, int64_t block) {
  if constexpr (R == Rule::ratio) return static_cast<const float*>(a.scales)[block];
  const uint32_t code = static_cast<const uint8_t*>(a.scales)[block];
  if constexpr (R == Rule::power) return widen<Dtype::ue8m0>(code);
  if constexpr (R == Rule::shared) return shared_scale_in_f32(code, a.second[0]);
  return __fadd_rn(__fmul_rn(widen<Dtype::e4m3>(code), a.second[block / kGroup]), a.mean[0]);
}
__device__ __forceinline__ float stored_scale(const Args& a, int64_t block) {
  if (a.rule == Rule::ratio) return stored_scale<Rule::ratio>(a, block);
  if (a.rule == Rule::power) return stored_scale<Rule::power>(a, block);
  return a.rule == Rule::shared ? stored_scale<Rule::shared>(a, block)
                                : stored_scale<Rule::mean>(a, block);
}

// Whether elements are divided at all; otherwise they are 0.
__device__ __forceinline__ bool is_divisor(float scale) {
  return magnitude_bits(scale) - 1 < kInfinityBits - 1;  // neither 0, nor infinite, nor NaN
}

}  // namespace ridge::quantisation
