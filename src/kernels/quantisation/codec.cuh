// How elements of one format become bits and numbers again, for formats that the compiler knows.
#pragma once

#include "device/convert_pack.cuh"
#include "device/low_precision_pack.cuh"
#include "device/ptx/minmax.cuh"
#include "kernels/quantisation/rules.cuh"

namespace ridge::quantisation {

// One element after another, by arithmetic alone.
template <Dtype E>
struct Direct {
  static constexpr Dtype kElement = E;
  template <int N>
  __device__ __forceinline__ PackedWord<E, N> encoded(const float (&x)[N]) const {
    return narrow_pack<E>(x);
  }
  template <int N>
  __device__ __forceinline__ void decode(PackedWord<E, N> word, float (&x)[N]) const {
    widen_pack<E>(word, x);
  }
};

// Division by one number, for many: correctly rounded, in six operations. These are the steps that
// the compiler takes for a / b, less those that are the same for all a. So that no step leaves the
// range of normal numbers, both are multiplied by a power of two where b is very large or small.
// Quotients have to be under 2^64.
class Divisor {
 public:
  // What is no divisor makes 0 of all numbers but NaN and infinities.
  __device__ __forceinline__ explicit Divisor(float b)
      : lift_(fabsf(b) < 0x1p-60f  ? 0x1p64f
              : fabsf(b) > 0x1p60f ? 0x1p-64f
                                   : 1.0f),
        by_(b * lift_),
        inverse_(is_divisor(b) ? 1 / by_ : 0) {}
  __device__ __forceinline__ float operator()(float a) const {
    const float x = a * lift_;
    const float near = x * inverse_;
    const float nearer = fmaf(fmaf(-near, by_, x), inverse_, near);
    return fmaf(fmaf(-nearer, by_, x), inverse_, nearer);
  }

 private:
  float lift_, by_, inverse_;
};

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

// The largest magnitude of a pack, as bits.
template <int N>
__device__ __forceinline__ uint32_t pack_max_bits(const float (&x)[N]) {
  float most = fabsf(x[0]);
#pragma unroll
  for (int i = 1; i < N; ++i) most = max_or_nan(most, fabsf(x[i]));
  return magnitude_bits(most);
}

// Divides a pack by its scale and makes bits of it. A scale that was not made from these numbers
// may be so small that quotients are infinite, which Divisor cannot do.
template <class Codec, int N>
__device__ __forceinline__ PackedWord<Codec::kElement, N> divided(const Codec& codec, float scale,
                                                                  bool is_given, float (&x)[N]) {
  const bool divides = is_divisor(scale);
  if (is_given) {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = divides ? x[i] / scale : 0;
    return codec.encoded(x);
  }
  const Divisor divide(scale);
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = divides ? divide(x[i]) : 0;
  return codec.encoded(x);
}

}  // namespace ridge::quantisation
