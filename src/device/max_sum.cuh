// The maximum of some numbers, and the sum of their exponentials relative to it. Two such pairs
// merge into the pair of all their numbers, so the sum need not wait for the row's maximum. The
// logarithm of the sum of all exponentials is max + log(sum), whatever the size of the numbers.
//
// Where only sums are wanted, with Forward = false, the maximum stays 0 and costs nothing.
#pragma once

#include "device/convert_pack.cuh"
#include "device/lanes.cuh"
#include "device/ptx/exp2.cuh"
#include "device/shifted.cuh"

namespace ridge::max_sum {

struct Accurate {
  __device__ static __forceinline__ float exp(float x) { return expf(x); }
};
// One multiplication and one instruction; off by at most (2 |x| + 4) roundoffs. Under e^-87, 0.
struct Fast {
  __device__ static __forceinline__ float exp(float x) { return exp2_flushed(x * 1.44269504f); }
};

struct MaxSum {
  float max, sum;
};
template <bool Forward>
__device__ __forceinline__ MaxSum empty() {
  return {Forward ? -INFINITY : 0.0f, 0.0f};
}

// What exponentials are taken relative to. Where there is nothing but -inf yet, 0: -inf - -inf
// would be NaN, although a number may still come.
__device__ __forceinline__ float base_of(float max) { return max == -INFINITY ? 0 : max; }

// By what a sum relative to `from` is multiplied to be relative to `to`. Equal infinities have no
// difference.
__device__ __forceinline__ float rescaled(float from, float to) {
  return from == to ? 1.0f : Fast::exp(from - to);
}

// The larger of `floor` and all numbers of the packs. Two-byte formats are compared two at a time,
// as they are.
template <class T, int Packs>
__device__ __forceinline__ float max_of(const Pack<T> (&packs)[Packs], float floor) {
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int p = 0; p < Packs; ++p)
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) floor = fmaxf(floor, packs[p][i]);
    return floor;
  } else {
    using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
    Pair max;
    max.x = max.y = from_float<T>(-INFINITY);
#pragma unroll
    for (int p = 0; p < Packs; ++p)
#pragma unroll
      for (int i = 0; i < 4; ++i) max = __hmax2(max, bytes_as<Pair>(packs[p].words[i]));
    return fmaxf(floor, fmaxf(to_float(max.x), to_float(max.y)));
  }
}

// Over the lanes of a warp: first the maximum, so that each lane scales its sum once.
template <bool Forward>
__device__ __forceinline__ MaxSum lanes_merge(const MaxSum& mine) {
  if constexpr (Forward) {
    const float max = lanes_max(mine.max, kWarpSize);
    return {max, lanes_sum(mine.sum * rescaled(mine.max, max), kWarpSize)};
  } else {
    return {0, lanes_sum(mine.sum, kWarpSize)};
  }
}

// Over the warps of a block, each of which has merged its lanes. One barrier; `partials` may not be
// in use by an earlier call.
template <bool Forward>
__device__ __forceinline__ MaxSum warps_merge(const MaxSum& warp, float2 (&partials)[kWarpSize]) {
  const int lane = threadIdx.x % kWarpSize;
  if (lane == 0) partials[threadIdx.x / kWarpSize] = {warp.max, warp.sum};
  __syncthreads();
  MaxSum one = empty<Forward>();
  if (lane < int(blockDim.x) / kWarpSize) one = {partials[lane].x, partials[lane].y};
  return lanes_merge<Forward>(one);
}

}  // namespace ridge::max_sum
