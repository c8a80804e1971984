// Sixteen codes to f32 in few instructions, up to a factor that a sum of them is multiplied by.
// Fields go to where f16 has them, two codes at once; f16 subnormals become f32 exactly.
#pragma once

#include "device/lanes.cuh"
#include "kernels/quantisation/rules.cuh"

namespace ridge::gemv_quantised {

using quantisation::stored_scale;

constexpr int kCodes = 16;  // of one step: no block is smaller

template <Dtype E>
constexpr int kWords = kCodes* low_precision::kBits<E> / 32;  // that hold them

__device__ __forceinline__ void halves_to_floats(uint32_t halves, float& low, float& high) {
  const float2 both = __half22float2(*reinterpret_cast<const __half2*>(&halves));
  low = both.x;
  high = both.y;
}

// decode(words, w): w[i] * kFactor is code i. Where f16 would hide a NaN, is_nan tells of it.
template <Dtype E>
struct Decoder;

template <>
struct Decoder<Dtype::i8> {
  static constexpr float kFactor = 1;
  __device__ __forceinline__ void decode(const uint32_t (&words)[4], float (&w)[kCodes]) {
#pragma unroll
    for (int i = 0; i < kCodes; ++i) {  // 2^23 + 128 + code, less 2^23 + 128
      const uint32_t bytes = words[i / 4] ^ 0x80808080u;
      w[i] = __uint_as_float(__byte_perm(bytes, 0x4b000000u, 0x7540 | i % 4)) - 0x1.0001p23f;
    }
  }
};

template <>
struct Decoder<Dtype::e4m3> {
  static constexpr float kFactor = 0x1p8f;
  uint32_t carries = 0;
  __device__ __forceinline__ void decode(const uint32_t (&words)[4], float (&w)[kCodes]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      carries |= (words[i] & 0x7f7f7f7fu) + 0x01010101u;  // of 0x7f, which is NaN
      const uint32_t odd = words[i], even = words[i] << 8;
      const auto fields = [](uint32_t high_bytes) {
        return (high_bytes & 0x80008000u) | (high_bytes >> 1 & 0x3f803f80u);
      };
      halves_to_floats(fields(even), w[4 * i], w[4 * i + 2]);
      halves_to_floats(fields(odd), w[4 * i + 1], w[4 * i + 3]);
    }
  }
  __device__ __forceinline__ bool is_nan() const { return carries & 0x80808080u; }
};

template <>
struct Decoder<Dtype::e5m2> {  // the upper byte of an f16
  static constexpr float kFactor = 1;
  __device__ __forceinline__ void decode(const uint32_t (&words)[4], float (&w)[kCodes]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      halves_to_floats(words[i] << 8 & 0xff00ff00u, w[4 * i], w[4 * i + 2]);
      halves_to_floats(words[i] & 0xff00ff00u, w[4 * i + 1], w[4 * i + 3]);
    }
  }
};

template <>
struct Decoder<Dtype::e2m1> {
  static constexpr float kFactor = 0x1p14f;
  __device__ __forceinline__ void decode(const uint32_t (&words)[2], float (&w)[kCodes]) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int n = 0; n < 4; ++n) {  // codes n and n + 4, which are at the top of both halves
        const uint32_t top = words[i] << (12 - 4 * n);
        halves_to_floats((top & 0x80008000u) | (top >> 3 & 0x0e000e00u), w[8 * i + n],
                         w[8 * i + n + 4]);
      }
  }
};

// Lane i of each 16 has value i, and a shuffle is the table.
template <>
struct Decoder<Dtype::nf4> {
  static constexpr float kFactor = 1;
  float table;
  __device__ __forceinline__ Decoder() : table(widen<Dtype::nf4>(threadIdx.x % 16)) {}
  __device__ __forceinline__ void decode(const uint32_t (&words)[2], float (&w)[kCodes]) {
#pragma unroll
    for (int i = 0; i < kCodes; ++i)  // of the lane, the lowest four bits count
      w[i] = __shfl_sync(kAllLanes, table, int(words[i / 8] >> i % 8 * 4), 16);
  }
};

}  // namespace ridge::gemv_quantised
