// Between f32, f16, bf16 and the bits of quantised formats, one number at a time. Plain integer and
// f32 arithmetic, so every GPU gives the same bits, which are those of core/number.h on the host.
//
//   narrow<Dtype::e4m3>(x)         the bits of x, in the lowest bits of a word
//   widen<Dtype::e4m3>(bits)       the number as f32, or as T with widen<Dtype::e4m3, T>
//
// low_precision_pack.cuh does the same for several numbers in a word.
#pragma once

#include <cstdint>

#include "core/conversion.h"
#include "device/convert.cuh"
#include "ridge/dtype.h"

namespace ridge {
namespace low_precision {

constexpr uint32_t kF32Infinity = 0x7f800000u, kF32Nan = 0x7fffffffu, kF32Magnitude = 0x7fffffffu;
constexpr int kF32MantissaBits = 23, kF32Bias = 127;

__host__ __device__ constexpr uint32_t mask_of(int bits) { return (1u << bits) - 1; }

// 2^exponent, which must be a normal number.
__host__ __device__ constexpr uint32_t f32_power(int exponent) {
  return uint32_t(exponent + kF32Bias) << kF32MantissaBits;
}

// What the table says of a format. Device code may not call format_of and its like, but it may use
// what they returned.
template <Dtype D>
constexpr int kBits = bits_of(D);
template <Dtype D>
constexpr bool kIsFloating = is_floating(D);
template <Dtype D>
constexpr bool kIsSigned = format_of(D).is_signed;

template <Dtype D>
struct Layout {  // of a floating format
  static constexpr NumberFormat f = format_of(D);
  static constexpr int kMantissa = f.mantissa_bits, kBias = f.bias;
  static constexpr int kSignAt = f.exponent_bits + f.mantissa_bits;
  static constexpr uint32_t kAllOnes = mask_of(kSignAt);
  static constexpr uint32_t kLargest = f.specials == Specials::none  ? kAllOnes
                                       : f.specials == Specials::nan ? kAllOnes - 1
                                                                     : kAllOnes - (1u << kMantissa);
  static constexpr uint32_t kNan = f.specials == Specials::none ? kLargest : kAllOnes;
  static constexpr bool kSigned = f.is_signed;
  static constexpr bool kHasSpecials = f.specials != Specials::none;
  static constexpr bool kIeee = f.specials == Specials::ieee;
};

template <Dtype D, Overflow O>
constexpr bool kSaturates = format_of(D).specials == Specials::none || O == Overflow::saturate ||
                            (O == Overflow::by_format && format_of(D).is_quantised);

// The magnitude's pattern of a format with subnormals; larger than any if it is too large.
template <Dtype D, Rounding R>
__device__ __forceinline__ uint32_t round_magnitude(uint32_t size, bool negative) {
  using L = Layout<D>;
  constexpr int kDropped = kF32MantissaBits - L::kMantissa;
  const bool away = R == Rounding::up && !negative;
  if (size < f32_power(1 - L::kBias)) {
    // Subnormal, or about to be: in a sum with this power, the last bit counts the format's units.
    constexpr uint32_t kUnits = f32_power(kF32MantissaBits + 1 - L::kBias - L::kMantissa);
    const float x = __uint_as_float(size), units = __uint_as_float(kUnits);
    const float sum = R == Rounding::nearest_even ? __fadd_rn(x, units)
                      : away                      ? __fadd_ru(x, units)
                                                  : __fadd_rz(x, units);
    return __float_as_uint(sum) - kUnits;
  }
  uint32_t carried = size;
  if (R == Rounding::nearest_even) carried += mask_of(kDropped - 1) + (size >> kDropped & 1);
  else if (away) carried += mask_of(kDropped);
  return (carried >> kDropped) - (uint32_t(kF32Bias - L::kBias) << L::kMantissa);
}

// ue8m0: the exponent of an f32, except that 2^-127 is subnormal there.
template <Rounding R>
__device__ __forceinline__ uint32_t round_to_power(uint32_t size) {
  constexpr uint32_t kLowest = 1u << (kF32MantissaBits - 1);  // 2^-127
  constexpr uint32_t kNormal = 1u << kF32MantissaBits;
  if (size < kNormal)
    return R == Rounding::nearest_even ? size >= kLowest + kLowest / 2
           : R == Rounding::up         ? size > kLowest
                                       : 0;
  const uint32_t carry = R == Rounding::nearest_even ? kLowest  // a tie goes to the larger
                         : R == Rounding::up         ? kNormal - 1
                                                     : 0;
  return (size + carry) >> kF32MantissaBits;
}

template <Dtype D, Rounding R, Overflow O>
__device__ __forceinline__ uint32_t narrow_floating(float x) {
  using L = Layout<D>;
  const uint32_t bits = __float_as_uint(x), size = bits & kF32Magnitude;
  const bool negative = L::kSigned && bits >> 31;
  const bool cuts = R == Rounding::toward_zero || (R == Rounding::up && negative);
  uint32_t magnitude;
  if constexpr (D == Dtype::ue8m0) magnitude = round_to_power<R>(size);
  else magnitude = round_magnitude<D, R>(size, negative);
  if (magnitude > L::kLargest || size >= kF32Infinity) {
    const bool stops = kSaturates<D, O> || (cuts && size < kF32Infinity);
    magnitude = stops ? L::kLargest : L::kLargest + 1;
  }
  if (size > kF32Infinity) return L::kNan;
  return magnitude | uint32_t(negative) << L::kSignAt;
}

template <Dtype D>
__device__ __forceinline__ uint32_t narrow_integer(float x) {
  constexpr int kHighest = int(mask_of(kIsSigned<D> ? kBits<D> - 1 : kBits<D>));
  constexpr int kLowest = kIsSigned<D> ? -kHighest - 1 : 0;
  // The conversion saturates and makes 0 of NaN.
  return uint32_t(min(max(__float2int_rn(x), kLowest), kHighest)) & mask_of(kBits<D>);
}

// nf4. Through template arguments, since device code cannot read a table of the host's, but can
// have its entries as constants. A number lies above the midpoint between two values exactly if it
// lies above the largest f32 that is not above the midpoint.
constexpr float nf4_threshold(int i) {
  const double middle = (double(kNf4Values[i]) + double(kNf4Values[i + 1])) / 2;
  float nearest = float(middle);
  if (double(nearest) <= middle) return nearest;
  float power = 1;  // the last bit of `nearest` is worth power * 2^-23
  while (power > (nearest < 0 ? -nearest : nearest)) power /= 2;
  return nearest - power * 0x1p-23f;
}
template <int I>
constexpr float kNf4Threshold = nf4_threshold(I);
template <int I>
__device__ __forceinline__ uint32_t nf4_steps(float x) {
  uint32_t steps = x > kNf4Threshold<I>;
  if constexpr (I + 1 < 15) steps += nf4_steps<I + 1>(x);
  return steps;
}
template <int First, int Count>
__device__ __forceinline__ float nf4_value(uint32_t code) {  // one of Count from First on
  if constexpr (Count == 1) {
    constexpr float kValue = kNf4Values[First];
    return kValue;
  } else {
    return code & Count / 2 ? nf4_value<First + Count / 2, Count / 2>(code)
                            : nf4_value<First, Count / 2>(code);
  }
}

template <Dtype D>
__device__ __forceinline__ float widen_floating(uint32_t bits) {
  using L = Layout<D>;
  const uint32_t magnitude = bits & L::kAllOnes;
  const uint32_t sign = L::kSigned ? (bits >> L::kSignAt & 1) << 31 : 0;
  if (magnitude > L::kLargest)
    return __uint_as_float(L::kIeee && magnitude == L::kLargest + 1 ? sign | kF32Infinity
                                                                    : kF32Nan);
  uint32_t wide;
  if constexpr (D == Dtype::ue8m0) {
    wide = magnitude == 0 ? 1u << (kF32MantissaBits - 1) : magnitude << kF32MantissaBits;
  } else if (magnitude >> L::kMantissa == 0) {
    constexpr uint32_t kUnit = f32_power(1 - L::kBias - L::kMantissa);
    wide = __float_as_uint(float(magnitude) * __uint_as_float(kUnit));
  } else {
    wide = (magnitude << (kF32MantissaBits - L::kMantissa)) + f32_power(-L::kBias);
  }
  return __uint_as_float(sign | wide);
}

template <Dtype D>
__device__ __forceinline__ float widen_integer(uint32_t bits) {
  constexpr int kUnused = 32 - kBits<D>;
  if constexpr (kIsSigned<D>) return float(int32_t(bits << kUnused) >> kUnused);
  else return float(bits & mask_of(kBits<D>));
}

}  // namespace low_precision

// The formats that have conversions here: all that are quantised.
template <Dtype D>
constexpr bool kIsLowPrecision = format_of(D).is_quantised;

// `R` and `O` concern floating formats. T is float, __half or __nv_bfloat16; both of the latter are
// exact in f32, so going there first rounds only once. With R = up, f32 subnormals count as 0 where
// the program is compiled to flush them.
template <Dtype D, Rounding R = Rounding::nearest_even, Overflow O = Overflow::by_format, class T>
__device__ __forceinline__ uint32_t narrow(T number) {
  static_assert(kIsLowPrecision<D>, "a quantised format");
  const float x = to_float(number);
  if constexpr (D == Dtype::nf4) return low_precision::nf4_steps<0>(x);
  else if constexpr (low_precision::kIsFloating<D>)
    return low_precision::narrow_floating<D, R, O>(x);
  else return low_precision::narrow_integer<D>(x);
}

// Exact in all three types, but for nf4 in f16 and bf16, and ue8m0 in f16, which are rounded.
template <Dtype D, class T = float>
__device__ __forceinline__ T widen(uint32_t bits) {
  static_assert(kIsLowPrecision<D>, "a quantised format");
  if constexpr (D == Dtype::nf4) return from_float<T>(low_precision::nf4_value<0, 16>(bits));
  else if constexpr (low_precision::kIsFloating<D>)
    return from_float<T>(low_precision::widen_floating<D>(bits));
  else return from_float<T>(low_precision::widen_integer<D>(bits));
}

}  // namespace ridge
