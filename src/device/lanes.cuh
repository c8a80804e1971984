// Sums and maxima over neighbouring lanes of a warp. Every lane gets the result, computed in the
// same order, so that all lanes agree to the last bit.
#pragma once

namespace ridge {

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// `lanes`: a power of two, the same for all. All 32 lanes of the warp must call this.
__device__ __forceinline__ float lanes_sum(float x, int lanes) {
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
    if (distance < lanes) x += __shfl_xor_sync(kAllLanes, x, distance);
  return x;
}
// A NaN loses against any number.
__device__ __forceinline__ float lanes_max(float x, int lanes) {
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
    if (distance < lanes) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, distance));
  return x;
}

}  // namespace ridge
