// A square of elements in one thread's registers, turned: P packs of P elements, where P is what 16
// bytes hold. Four-byte elements only change places; smaller ones are gathered by byte
// permutations.
#pragma once

#include "device/from_detail.cuh"

namespace ridge {

template <int N>
__device__ __forceinline__ void to_words(const uint4 (&x)[N], uint32_t (&words)[N][4]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    words[i][0] = x[i].x, words[i][1] = x[i].y, words[i][2] = x[i].z, words[i][3] = x[i].w;
  }
}
template <int N>
__device__ __forceinline__ void to_packs(const uint32_t (&words)[N][4], uint4 (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = make_uint4(words[i][0], words[i][1], words[i][2], words[i][3]);
}

// Element r of pack c becomes element c of pack r.
__device__ __forceinline__ void transpose_registers(uint4 (&x)[4], uint32_t) {
  const uint4 a = x[0], b = x[1], c = x[2], d = x[3];
  x[0] = make_uint4(a.x, b.x, c.x, d.x);
  x[1] = make_uint4(a.y, b.y, c.y, d.y);
  x[2] = make_uint4(a.z, b.z, c.z, d.z);
  x[3] = make_uint4(a.w, b.w, c.w, d.w);
}

__device__ __forceinline__ void transpose_registers(uint4 (&x)[8], uint16_t) {
  uint32_t from[8][4], to[8][4];  // (pack, word)
  to_words(x, from);
#pragma unroll
  for (int r = 0; r < 4; ++r)  // two rows
#pragma unroll
    for (int c = 0; c < 4; ++c) {  // two columns
      const uint32_t a = from[2 * r][c], b = from[2 * r + 1][c];
      to[2 * c][r] = __byte_perm(a, b, 0x5410);
      to[2 * c + 1][r] = __byte_perm(a, b, 0x7632);
    }
  to_packs(to, x);
}

__device__ __forceinline__ void transpose_registers(uint4 (&x)[16], uint8_t) {
  uint32_t from[16][4], to[16][4];  // (pack, word)
  to_words(x, from);
#pragma unroll
  for (int r = 0; r < 4; ++r)  // four rows
#pragma unroll
    for (int c = 0; c < 4; ++c) {  // four columns
      const uint32_t a = from[4 * r][c], b = from[4 * r + 1][c];
      const uint32_t d = from[4 * r + 2][c], e = from[4 * r + 3][c];
      const uint32_t ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
      const uint32_t de_low = __byte_perm(d, e, 0x5140), de_high = __byte_perm(d, e, 0x7362);
      to[4 * c][r] = __byte_perm(ab_low, de_low, 0x5410);
      to[4 * c + 1][r] = __byte_perm(ab_low, de_low, 0x7632);
      to[4 * c + 2][r] = __byte_perm(ab_high, de_high, 0x5410);
      to[4 * c + 3][r] = __byte_perm(ab_high, de_high, 0x7632);
    }
  to_packs(to, x);
}

}  // namespace ridge
