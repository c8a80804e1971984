// The first maximum of each column of 2-byte numbers, for ArgMax: four instructions per element,
// where a value and an index of 64 bits take sixteen.
//
// A column's best is one word: above, the number as an integer that has its order; below, how many
// steps are still to come, so that of equal numbers the first wins. One maximum of integers
// compares both. Two columns that share a word of memory are put in order together.
#pragma once

#include "device/convert.cuh"
#include "device/ptx/halves.cuh"
#include "device/reduce_columns.cuh"
#include "device/shifted.cuh"
#include "device/sum_min_max.cuh"

namespace ridge::reduction {

template <class T>
requires(sizeof(T) == 2) struct PackFold<ArgMax<float>, T> {
  using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
  static constexpr int kSize = kPackSize<T>;
  static constexpr int64_t kMostSteps = 1 << 16;  // that the lower half can count
  static constexpr int32_t kNothing = INT32_MIN;  // less than any number

  int32_t best[kSize];
  uint32_t to_come = uint32_t(kMostSteps - 1);

  __device__ PackFold() {
#pragma unroll
    for (int32_t& b : best) b = kNothing;
  }
  __device__ __forceinline__ void take(const Pack<T>& x) {
#pragma unroll
    for (int w = 0; w < kSize / 2; ++w) {
      const uint32_t pair = ordered(x.words[w]);
      best[2 * w] = max(best[2 * w], int32_t(__byte_perm(to_come, pair, 0x5410)));
      best[2 * w + 1] = max(best[2 * w + 1], int32_t(__byte_perm(to_come, pair, 0x7610)));
    }
    --to_come;
  }
  // Step s of this fold was step first + s * step of the axis.
  __device__ Best result(int j, int64_t first, int64_t step) const {
    if (best[j] == kNothing) return ArgMax<float>().identity();
    const uint32_t bits = reversed(uint32_t(best[j])) >> 16;
    const auto half = uint16_t(bits);
    const int64_t s = kMostSteps - 1 - (best[j] & 0xffff);
    return {first + s * step, rank_of(element(*reinterpret_cast<const T*>(&half)))};
  }

 private:
  // Halves as integers with a sign that have the order of the numbers. Multiplied by 1 and added to
  // 0, both zeros become 0, and all NaN become one, which has the greatest bits.
  static __device__ __forceinline__ uint32_t ordered(uint32_t word) {
    const T one = from_float<T>(1), zero = from_float<T>(0);
    return reversed(
        bytes_as<uint32_t>(__hfma2(bytes_as<Pair>(word), Pair{one, one}, Pair{zero, zero})));
  }
  // Of negative halves, the bits behind the sign are turned over; doing it twice changes nothing.
  static __device__ __forceinline__ uint32_t reversed(uint32_t word) {
    return word ^ (ptx::signs_of_halves(word) & 0x7fff7fffu);
  }
};

}  // namespace ridge::reduction
