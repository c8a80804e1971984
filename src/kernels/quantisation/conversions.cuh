// Conversions for numbers that a scale has brought into range: a few instructions each, where
// those of device/low_precision.cuh do any number. Bit for bit the same.
#pragma once

#include "device/low_precision_pack.cuh"

namespace ridge::quantisation {

// The bits of a finite number; what is too large becomes the largest. In a sum with a power of two
// whose last bit is worth as much as the format's, the magnitude is rounded and stands in the
// lowest bits.
template <Dtype E>
__device__ __forceinline__ uint32_t narrow_bounded(float x) {
  using L = low_precision::Layout<E>;
  constexpr int kDropped = low_precision::kF32MantissaBits - L::kMantissa;
  constexpr uint32_t kLeast = low_precision::f32_power(1 - L::kBias);  // the least normal number
  constexpr float kMost =
      low_precision::Layout<E>::kHasSpecials ? (E == Dtype::e4m3 ? 448.0f : 57344.0f) : 6.0f;
  const float size = fminf(fabsf(x), kMost);
  const uint32_t exponent = max(__float_as_uint(size) & 0x7f800000u, kLeast);
  const uint32_t units = exponent + (uint32_t(kDropped) << low_precision::kF32MantissaBits);
  const uint32_t sum = __float_as_uint(size + __uint_as_float(units));
  const uint32_t code = sum - units + ((exponent - kLeast) >> kDropped);
  return code | (__float_as_uint(x) >> (31 - L::kSignAt) & (1u << L::kSignAt));
}

// N numbers, finite and at most twice the largest of the format, to its codes.
template <Dtype E, int N>
__device__ __forceinline__ PackedWord<E, N> narrow_pack_bounded(const float (&x)[N]) {
  if constexpr (E == Dtype::i8) {
    // In a sum with 1.5 * 2^23 the lowest byte is the rounded number.
    constexpr float kUnits = 0x1.8p23f;
    uint32_t words[(N + 3) / 4];
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      uint32_t sums[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[j] = __float_as_uint(x[i + j] + kUnits);
      const uint32_t low = __byte_perm(sums[0], sums[1], 0x0040);
      const uint32_t high = __byte_perm(sums[2], sums[3], 0x0040);
      words[i / 4] = __byte_perm(low, high, 0x5410);
    }
    if constexpr (N == 8) return words[0] | PackedWord<E, N>(words[1]) << 32;
    else return words[0];
  } else if constexpr (E == Dtype::nf4) {
    return narrow_pack<E>(x);
  } else {
    constexpr int kBits = low_precision::kBits<E>, kInWord = 32 / kBits < N ? 32 / kBits : N;
    uint32_t words[N / kInWord] = {};
#pragma unroll
    for (int i = 0; i < N; ++i)
      words[i / kInWord] |= narrow_bounded<E>(x[i]) << i % kInWord * kBits;
    if constexpr (N / kInWord == 2) return words[0] | PackedWord<E, N>(words[1]) << 32;
    else return PackedWord<E, N>(words[0]);
  }
}

// Codes to f32: any code.
template <Dtype E, int N>
__device__ __forceinline__ void widen_codes(PackedWord<E, N> word, float (&x)[N]) {
  constexpr int kBits = low_precision::kBits<E>;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto part = uint32_t(word >> i * kBits / 32 * 32);
    const int at = i * kBits % 32;
    if constexpr (E == Dtype::i8) {
      x[i] = float(int32_t(part << (24 - at)) >> 24);
    } else if constexpr (E == Dtype::e5m2) {  // the upper byte of an f16
      x[i] = __half2float(__ushort_as_half(uint16_t(part >> at << 8)));
    } else if constexpr (E == Dtype::e4m3 || E == Dtype::e2m1) {
      // Fields where f32 has them; a product makes up for the other bias, also of subnormals.
      constexpr bool kIsByte = E == Dtype::e4m3;
      constexpr uint32_t kFields = kIsByte ? 0x87f00000u : 0x81c00000u;
      const auto top = int32_t(part << (32 - kBits - at));
      const uint32_t fields = uint32_t(top >> (kIsByte ? 4 : 6)) & kFields;
      x[i] = __uint_as_float(fields) * (kIsByte ? 0x1p120f : 0x1p126f);
      if (kIsByte && (fields | 0x80000000u) == kFields) x[i] = __uint_as_float(0x7fffffffu);
    } else {
      x[i] = widen<E>(part >> at & low_precision::mask_of(kBits));
    }
  }
}

}  // namespace ridge::quantisation
