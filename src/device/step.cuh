// Steps of a linear recurrence, h <- a h + b. Two of them in a row are a step again, so threads can
// combine neighbouring steps in any grouping.
#pragma once

#include "device/lanes.cuh"

namespace ridge::steps {

struct Step {
  float a = 1, b = 0;
  __device__ __forceinline__ float operator()(float h) const { return fmaf(a, h, b); }
};
__device__ __forceinline__ Step then(const Step& first, const Step& second) {
  return {first.a * second.a, second(first.b)};
}

// A chain may also go from the highest lane, the last warp and the end of a tile to the first.
enum class Order { from_start, from_end };

// `mine` becomes all steps up to and including the lane's own.
template <Order kOrder = Order::from_start>
__device__ __forceinline__ void combine_lanes(Step& mine) {
  constexpr bool kUp = kOrder == Order::from_start;
  const int lane = threadIdx.x % kWarpSize, before = kUp ? lane : kWarpSize - 1 - lane;
  const auto from = [](float x, int distance) {
    return kUp ? __shfl_up_sync(kAllLanes, x, distance) : __shfl_down_sync(kAllLanes, x, distance);
  };
#pragma unroll
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    const Step earlier = {from(mine.a, distance), from(mine.b, distance)};
    if (before >= distance) mine = then(earlier, mine);
  }
}

}  // namespace ridge::steps
