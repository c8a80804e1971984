// e2m1 by a minimum of three products: the codes of its magnitudes 0 0.5 1 1.5 2 3 4 6 lie on a
// line that bends twice and never upwards, so a code is the smallest of three straight lines,
// rounded. The sum with 1.5 * 2^23 rounds each of them once, to the even code where a number is
// halfway.
#pragma once

#include "kernels/quantisation/codec.cuh"

namespace ridge::quantisation {

struct E2m1ByMinimum {
  static constexpr Dtype kElement = Dtype::e2m1;
  static constexpr int kUnit = 80;

  // In the lowest bits; those above are of the constant. For magnitudes under 15.
  static __device__ __forceinline__ uint32_t magnitude(float x) {
    constexpr float kUnits = 0x1.8p23f;
    const float size = fabsf(x);
    const float by_half = fmaf(size, 2.0f, kUnits);  // up to 2: 2 codes from 1 to 1
    const float by_one = size + (kUnits + 2);        // up to 4
    // Above 4 there are two codes left, with 5 between them: a line from 6 that passes 6.5 there,
    // so slowly that it does not reach 7.5. Its slope is the largest f32 under 0.1.
    const float by_two = fmaf(size, 0x1.999998p-4f, kUnits + 6);
    return __float_as_uint(fminf(fminf(by_half, by_one), by_two));
  }
  // Signs of four numbers at the top of bytes, to where four codes have them, in two of the bytes.
  static __device__ __forceinline__ uint32_t signs(const float* x) {
    const uint32_t low = __byte_perm(__float_as_uint(x[0]), __float_as_uint(x[1]), 0x0073);
    const uint32_t high = __byte_perm(__float_as_uint(x[2]), __float_as_uint(x[3]), 0x0073);
    const uint32_t bytes = __byte_perm(low, high, 0x5410);
    return (bytes >> 4 & 0x00080008u) | (bytes >> 8 & 0x00800080u);
  }
  template <int N>
  __device__ __forceinline__ PackedWord<kElement, N> encoded(const float (&x)[N]) const {
    uint32_t bytes[N / 2];  // two codes each; what is above the lowest byte does not count
#pragma unroll
    for (int i = 0; i < N / 2; ++i) bytes[i] = magnitude(x[2 * i + 1]) * 16 + magnitude(x[2 * i]);
    if constexpr (N == 8) {
      const uint32_t low = __byte_perm(bytes[0], bytes[1], 0x0040);
      const uint32_t high = __byte_perm(bytes[2], bytes[3], 0x0040);
      return __byte_perm(low, high, 0x5410) | __byte_perm(signs(x), signs(x + 4), 0x6420);
    } else {
      static_assert(N == 4);
      return PackedWord<kElement, N>(__byte_perm(bytes[0], bytes[1], 0x0040) |
                                     __byte_perm(signs(x), 0, 0x4420));
    }
  }
  template <int N>
  __device__ __forceinline__ void decode(PackedWord<kElement, N> word, float (&x)[N]) const {
    widen_codes<kElement>(word, x);
  }
};

}  // namespace ridge::quantisation
