// Several numbers of a quantised format in one word, as they lie in memory: number i takes the bits
// from i * bits_of(D) on. Two, four or eight of 4 or 8 bits fill whole bytes, and so do four or
// eight of 6 bits.
#pragma once

#include <type_traits>

#include "device/low_precision.cuh"

namespace ridge {

// The smallest word that holds N numbers. Eight of 6 bits take the lowest 48 of 64.
template <Dtype D, int N>
using PackedWord = std::conditional_t<
    N * low_precision::kBits<D> <= 8, uint8_t,
    std::conditional_t<N * low_precision::kBits<D> <= 16, uint16_t,
                       std::conditional_t<N * low_precision::kBits<D> <= 32, uint32_t, uint64_t>>>;

template <Dtype D, Rounding R = Rounding::nearest_even, Overflow O = Overflow::by_format, class T,
          int N>
__device__ __forceinline__ PackedWord<D, N> narrow_pack(const T (&numbers)[N]) {
  static_assert(N * low_precision::kBits<D> <= 64, "what one word holds");
  PackedWord<D, N> word = 0;
#pragma unroll
  for (int i = 0; i < N; ++i)
    word |= PackedWord<D, N>(PackedWord<D, N>(narrow<D, R, O>(numbers[i]))
                             << i * low_precision::kBits<D>);
  return word;
}

namespace low_precision {

// Two floating numbers to two f16 at once. The fields are moved to where f16 has them, and a
// product makes up for the other bias; f16 subnormals are multiplied like other numbers. All of it
// is exact.
template <Dtype D>
constexpr bool kHasHalfPairs = is_floating(D) && format_of(D).exponent_bits <= 5;

template <Dtype D>
__device__ __forceinline__ __half2 widen_pair(uint32_t bits) {
  using L = Layout<D>;
  constexpr int kHalfMantissa = 10, kHalfBias = 15;
  constexpr uint32_t kBoth = 0x00010001u;
  const uint32_t pair = (bits & mask_of(kBits<D>)) | (bits >> kBits<D>) << 16;
  const uint32_t magnitudes = pair & L::kAllOnes * kBoth;
  const uint32_t signs = L::kSigned ? pair << (15 - L::kSignAt) & 0x8000u * kBoth : 0;
  uint32_t halves = magnitudes << (kHalfMantissa - L::kMantissa) | signs;
  if constexpr (L::kBias != kHalfBias) {
    constexpr uint32_t kPower = uint32_t(kHalfBias - L::kBias + kHalfBias) << kHalfMantissa;
    const uint32_t powers = kPower * kBoth;
    const __half2 product = __hmul2(*reinterpret_cast<const __half2*>(&halves),
                                    *reinterpret_cast<const __half2*>(&powers));
    halves = *reinterpret_cast<const uint32_t*>(&product);
  }
  if constexpr (L::kHasSpecials) {  // NaN, which has one pattern here
    constexpr uint32_t kLastNumber = L::kIeee ? L::kLargest + 1 : L::kLargest;
    if ((magnitudes & 0xffffu) > kLastNumber) halves = (halves & 0xffff0000u) | 0x7fffu;
    if (magnitudes >> 16 > kLastNumber) halves = (halves & 0xffffu) | 0x7fff0000u;
  }
  return *reinterpret_cast<const __half2*>(&halves);
}

}  // namespace low_precision

template <Dtype D, class T, int N>
__device__ __forceinline__ void widen_pack(PackedWord<D, N> word, T (&numbers)[N]) {
  if constexpr (std::is_same_v<T, __half> && low_precision::kHasHalfPairs<D> && N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      constexpr uint32_t kPair = uint32_t((uint64_t(1) << 2 * low_precision::kBits<D>)-1);
      const __half2 pair =
          low_precision::widen_pair<D>(uint32_t(word >> i * low_precision::kBits<D>) & kPair);
      numbers[i] = __low2half(pair);
      numbers[i + 1] = __high2half(pair);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i)
      numbers[i] = widen<D, T>(uint32_t(word >> i * low_precision::kBits<D>));
  }
}

// The bits of element `index` of an array. There is no such store: elements that share a byte are
// stored together, by narrow_pack.
template <Dtype D>
__device__ __forceinline__ uint32_t load_bits(const void* base, int64_t index) {
  using low_precision::kBits;
  const auto* bytes = static_cast<const uint8_t*>(base);
  if constexpr (kBits<D> == 8) return bytes[index];
  const int64_t first = index * kBits<D>;
  const int shift = int(first % 8);
  uint32_t word = bytes[first / 8];
  if (shift + kBits < D >> 8) word |= uint32_t(bytes[first / 8 + 1]) << 8;
  return word >> shift & low_precision::mask_of(kBits<D>);
}

}  // namespace ridge
