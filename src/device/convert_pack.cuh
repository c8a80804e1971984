// A pack to f32 and back, all at once: two-byte formats take one instruction for two numbers on the
// way back, where one at a time takes three.
#pragma once

#include "device/convert.cuh"
#include "device/from_detail.cuh"

namespace ridge {

template <class T, int N>
__device__ __forceinline__ void to_floats(const Pack<T, N>& pack, float (&x)[N]) {
  if constexpr (std::is_same_v<T, __nv_bfloat16> && N % 2 == 0) {
    const uint32_t* words = reinterpret_cast<const uint32_t*>(&pack);
#pragma unroll
    for (int i = 0; i < N; i += 2) {  // the upper half of an f32 is a bf16
      x[i] = __uint_as_float(words[i / 2] << 16);
      x[i + 1] = __uint_as_float(words[i / 2] & 0xffff0000u);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = to_float(pack[i]);
  }
}

template <class T, int N>
__device__ __forceinline__ Pack<T, N> from_floats(const float (&x)[N]) {
  Pack<T, N> pack;
  if constexpr (std::is_same_v<T, __nv_bfloat16> && N % 2 == 0) {
    auto* pairs = reinterpret_cast<__nv_bfloat162*>(&pack);
#pragma unroll
    for (int i = 0; i < N; i += 2) pairs[i / 2] = __floats2bfloat162_rn(x[i], x[i + 1]);
  } else if constexpr (std::is_same_v<T, __half> && N % 2 == 0) {
    auto* pairs = reinterpret_cast<__half2*>(&pack);
#pragma unroll
    for (int i = 0; i < N; i += 2) pairs[i / 2] = __floats2half2_rn(x[i], x[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) pack[i] = from_float<T>(x[i]);
  }
  return pack;
}

}  // namespace ridge
