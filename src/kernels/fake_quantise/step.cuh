// One number there and back, and its gradient.
#pragma once

#include "device/convert.cuh"
#include "device/low_precision.cuh"
#include "kernels/fake_quantise/fake_quantise.h"

namespace ridge::fake_quantise {

// A number to the nearest of a floating format, saturating; NaN stays NaN. In a sum with a power of
// two whose last bit is worth as much as the format's, it is rounded.
template <Dtype E>
__device__ __forceinline__ float rounded_to(float t, float largest) {
  using L = low_precision::Layout<E>;
  constexpr int kDropped = low_precision::kF32MantissaBits - L::kMantissa;
  constexpr uint32_t kLeast = low_precision::f32_power(1 - L::kBias);
  const float size = fminf(fabsf(t), largest);
  const uint32_t exponent = max(__float_as_uint(size) & 0x7f800000u, kLeast);
  const float units =
      __uint_as_float(exponent + (uint32_t(kDropped) << low_precision::kF32MantissaBits));
  return t == t ? copysignf(__fsub_rn(__fadd_rn(size, units), units), t) : t;
}

// What belongs to one scale.
struct Step {
  float scale, inverse, zero;
  __device__ __forceinline__ Step(const Args& a, int64_t row)
      : scale(a.scale[a.by_row ? row : 0]),
        inverse(1 / scale),
        zero(a.zero_point ? float(a.zero_point[a.by_row ? row : 0]) : 0) {}

  __device__ __forceinline__ float value(const Args& a, float x) const {
    const float t = x * inverse;
    if (a.to == Dtype::e4m3) return rounded_to<Dtype::e4m3>(t, a.high) * scale;
    if (a.to == Dtype::e5m2) return rounded_to<Dtype::e5m2>(t, a.high) * scale;
    const float q = fminf(fmaxf(rintf(t) + zero, a.low), a.high);
    return t == t ? (q - zero) * scale : t;
  }
  __device__ __forceinline__ float gradient(const Args& a, float x, float dy) const {
    const float t = x * inverse;
    const float q = a.to == Dtype::i8 ? rintf(t) + zero : t;
    return q >= a.low && q <= a.high ? dy : 0;
  }
};

inline Support supports_any(const Args& a) {
  return is_compute_float(a.dtype) ? kSupported : "computes f32, f16 and bf16";
}

}  // namespace ridge::fake_quantise
