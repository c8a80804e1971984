// How elements of one format become bits and numbers again, for formats that the compiler knows.
#pragma once

#include "device/convert_pack.cuh"
#include "device/ptx/minmax.cuh"
#include "kernels/quantisation/conversions.cuh"
#include "kernels/quantisation/rules.cuh"

namespace ridge::quantisation {

// By arithmetic alone.
template <Dtype E>
struct Direct {
  static constexpr Dtype kElement = E;
  static constexpr int kUnit = 80;
  template <int N>
  __device__ __forceinline__ PackedWord<E, N> encoded(const float (&x)[N]) const {
    return narrow_pack_bounded<E>(x);
  }
  template <int N>
  __device__ __forceinline__ void decode(PackedWord<E, N> word, float (&x)[N]) const {
    widen_codes<E>(word, x);
  }
};

// Division of many numbers by one b: correctly rounded, in three operations, because the reciprocal
// of b is (Markstein 1990). So that no step leaves the range of normal numbers, both are multiplied
// by a power of two where b is very large or small. Quotients have to be under 2^64.
template <int N>
__device__ __forceinline__ void divide_all(float (&x)[N], float b) {
  const float size = fabsf(b);
  if (size < 0x1p-60f || size > 0x1p60f) {
    const float lift = size < 1 ? 0x1p64f : 0x1p-64f;
    b *= lift;
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] *= lift;
  }
  const float inverse = 1 / b;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const float near = x[i] * inverse;
    x[i] = fmaf(fmaf(-near, b, x[i]), inverse, near);
  }
}

// Of formats that the compiler knows: the largest number, and the power of two below it.
template <Dtype E>
constexpr float kLargestNumber = E == Dtype::i8     ? 127.0f
                                 : E == Dtype::e4m3 ? 448.0f
                                 : E == Dtype::e5m2 ? 57344.0f
                                 : E == Dtype::e2m1 ? 6.0f
                                                    : 1.0f;
template <Dtype E>
constexpr int kPowerBelowLargest = int(low_precision::Layout<E>::kLargest >>
                                       low_precision::Layout<E>::kMantissa) -
                                   low_precision::Layout<E>::kBias;

// amax / (the largest number of E) as divide_all does it; the reciprocal is a constant.
template <Dtype E>
__device__ __forceinline__ float ratio_scale(float amax) {
  constexpr float kLargest = kLargestNumber<E>, kInverse = 1 / kLargest;
  if constexpr (kLargest == 1) return amax;
  if (amax < 0x1p-100f) return amax / kLargest;  // a remainder would be subnormal
  const float near = amax * kInverse;
  return fmaf(fmaf(-near, kLargest, amax), kInverse, near);
}

// Calls f(Direct<E>()) with the format of the elements.
template <class F>
auto with_codec(Dtype element, F f) {
  switch (element) {
    case Dtype::i8: return f(Direct<Dtype::i8>());
    case Dtype::e4m3: return f(Direct<Dtype::e4m3>());
    case Dtype::e5m2: return f(Direct<Dtype::e5m2>());
    case Dtype::e2m1: return f(Direct<Dtype::e2m1>());
    default: return f(Direct<Dtype::nf4>());
  }
}

// N codes of one row from element `at` of q on, of which `width` are there.
template <Dtype E, int N>
__device__ __forceinline__ void store_codes(const Args& a, int64_t at, int64_t width,
                                            PackedWord<E, N> word) {
  constexpr int kBits = low_precision::kBits<E>;
  uint8_t* const to = static_cast<uint8_t*>(a.q) + at * kBits / 8;
  if (width == N && reinterpret_cast<uintptr_t>(to) % sizeof(word) == 0) {
    *reinterpret_cast<PackedWord<E, N>*>(to) = word;
    return;
  }
#pragma unroll
  for (int b = 0; b < N * kBits / 8; ++b) {
    const uint32_t byte = uint32_t(word >> 8 * b) & 0xff;
    const bool is_half = kBits == 4 && 2 * b + 1 == width;  // the last of an odd row
    if (b * 8 < width * kBits) to[b] = uint8_t(is_half ? byte & 15 : byte);
  }
}
template <Dtype E, int N>
__device__ __forceinline__ PackedWord<E, N> load_codes(const Args& a, int64_t at, int64_t width) {
  constexpr int kBits = low_precision::kBits<E>;
  const uint8_t* const from = static_cast<const uint8_t*>(a.q) + at * kBits / 8;
  if (width == N && reinterpret_cast<uintptr_t>(from) % sizeof(PackedWord<E, N>) == 0)
    return *reinterpret_cast<const PackedWord<E, N>*>(from);
  PackedWord<E, N> word = 0;
#pragma unroll
  for (int b = 0; b < N * kBits / 8; ++b)
    if (b * 8 < width * kBits) word |= PackedWord<E, N>(from[b]) << 8 * b;
  return word;
}

// A pack of x from column c of its row on, of which `width` elements are there; the others are 0.
template <class T>
__device__ __forceinline__ Pack<T> load_part(const T* row, int64_t c, int64_t width) {
  constexpr int kSize = kPackSize<T>;
  if (width == kSize && is_pack_aligned(row + c)) return load_pack(row + c);
  Pack<T> pack;
#pragma unroll
  for (int i = 0; i < kSize; ++i) pack[i] = i < width ? row[c + i] : T(0.0f);
  return pack;
}
template <class T>
__device__ __forceinline__ void store_part(T* row, int64_t c, int64_t width, const Pack<T>& pack) {
  constexpr int kSize = kPackSize<T>;
  if (width == kSize && is_pack_aligned(row + c)) return store_pack(row + c, pack);
#pragma unroll
  for (int i = 0; i < kSize; ++i)
    if (i < width) row[c + i] = pack[i];
}

// The larger ones of two pairs of two-byte numbers; NaN if one of them is.
template <class T>
__device__ __forceinline__ uint32_t pair_max(uint32_t a, uint32_t b) {
  using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
  const Pair most =
      __hmax2_nan(*reinterpret_cast<const Pair*>(&a), *reinterpret_cast<const Pair*>(&b));
  return *reinterpret_cast<const uint32_t*>(&most);
}
// The largest magnitudes of the even and of the odd elements of a pack.
template <class T>
__device__ __forceinline__ uint32_t pack_max_pair(const Pack<T>& pack) {
  const uint32_t* const words = reinterpret_cast<const uint32_t*>(&pack);
  const auto sizes = [&](int w) { return words[w] & 0x7fff7fffu; };
  return pair_max<T>(pair_max<T>(sizes(0), sizes(1)), pair_max<T>(sizes(2), sizes(3)));
}
// The larger one of a pair of magnitudes, as bits of an f32.
template <class T>
__device__ __forceinline__ uint32_t pair_max_bits(uint32_t pair) {
  const T* const halves = reinterpret_cast<const T*>(&pair);
  return magnitude_bits(max_or_nan(to_float(halves[0]), to_float(halves[1])));
}
// The largest magnitude of a pack, as bits. Two-byte numbers are compared in pairs.
template <class T>
__device__ __forceinline__ uint32_t pack_max_bits(const Pack<T>& pack) {
  if constexpr (sizeof(T) == 2) {
    return pair_max_bits<T>(pack_max_pair(pack));
  } else {
    float most = fabsf(pack[0]);
#pragma unroll
    for (int i = 1; i < kPackSize<T>; ++i) most = max_or_nan(most, fabsf(pack[i]));
    return magnitude_bits(most);
  }
}

// Divides a pack by its scale and makes bits of it. A scale that was not made from these numbers
// may be far too small for them.
template <class Codec, int N>
__device__ __forceinline__ PackedWord<Codec::kElement, N> divided(const Codec& codec, const Args& a,
                                                                  float scale, float (&x)[N]) {
  if (!is_divisor(scale)) {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = 0;
  } else if (a.is_given) {
    for (int i = 0; i < N; ++i) x[i] = x[i] / scale;
    return narrow_pack<Codec::kElement>(x);
  } else if (a.rule == Rule::power) {
    const float inverse = 1 / scale;
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] *= inverse;
  } else {
    divide_all(x, scale);
  }
  return codec.encoded(x);
}

// What numbers are divided by, made ready once: divide_all in two halves. If `inverse` is 0,
// nothing is divided, and the codes are those of 0.
struct Divisor {
  float b = 1, inverse = 1, lift = 1;
  Divisor() = default;
  __device__ __forceinline__ explicit Divisor(float scale) : b(scale) {
    constexpr uint32_t kLeast = low_precision::f32_power(-60), kMost = low_precision::f32_power(60);
    if (__float_as_uint(scale) - kLeast > kMost - kLeast) {
      lift = !is_divisor(scale) ? 1 : scale < 1 ? 0x1p64f : 0x1p-64f;
      b *= lift;
    }
    inverse = is_divisor(scale) ? 1 / b : 0;
  }
  __device__ __forceinline__ bool divides() const { return inverse != 0; }
  // Of a number that `lift` was multiplied with.
  __device__ __forceinline__ float quotient(float lifted) const {
    const float near = lifted * inverse;
    return fmaf(fmaf(-near, b, lifted), inverse, near);
  }
};
// The same for a power of two, given as ue8m0: its reciprocal is exact. No such scale is above
// 2^125; 0xff is NaN.
template <int N>
__device__ __forceinline__ void divide_by_power(uint32_t code, float (&x)[N]) {
  const float inverse = __uint_as_float((254 - code) << 23);
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] *= inverse;
}
template <Dtype E, int N>
constexpr PackedWord<E, N> kCodesOfZero = E == Dtype::nf4 ? PackedWord<E, N>(0x77777777u) : 0;

}  // namespace ridge::quantisation
