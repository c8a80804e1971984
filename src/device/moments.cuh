// Count, mean and sum of squared distances from the mean. Two such triples merge into the triple of
// all their numbers without ever forming the sum of squares itself, of which a large mean leaves no
// digits: E[x^2] - E[x]^2 subtracts two numbers that agree in almost all of them.
#pragma once

#include "device/lanes.cuh"

namespace ridge {

struct Moments {
  float count = 0, mean = 0, m2 = 0;

  // Welford's step: one more number.
  __device__ __forceinline__ void add(float x) {
    count += 1;
    const float d = x - mean;
    mean += d / count;
    m2 += d * (x - mean);
  }
};

// Chan, Golub and LeVeque's step: the numbers of both.
__device__ __forceinline__ Moments merged(const Moments& a, const Moments& b) {
  if (b.count == 0) return a;
  const float count = a.count + b.count, d = b.mean - a.mean, part = b.count / count;
  return {count, a.mean + d * part, a.m2 + b.m2 + d * d * (a.count * part)};
}

// Over neighbouring lanes, each with its own triple: the common mean first, then the distances from
// it. Two sums, and one division in all. Every lane gets the result.
__device__ __forceinline__ Moments lanes_merge(const Moments& mine, float count, int lanes) {
  const float sum = lanes_sum(mine.count * mine.mean, lanes);
  const float mean = count > 0 ? sum / count : 0;
  const float d = mine.mean - mean;
  // A lane without numbers has no distance, even if the mean is infinite.
  return {count, mean, lanes_sum(mine.count == 0 ? 0 : mine.m2 + mine.count * d * d, lanes)};
}

// Over the warps of a block, one triple each, at one barrier. `partials` may not be in use by an
// earlier call. Every thread gets the result.
__device__ __forceinline__ Moments warps_merge(const Moments& warp, float count,
                                               float4 (&partials)[kWarpSize]) {
  const int lane = threadIdx.x % kWarpSize;
  if (lane == 0) partials[threadIdx.x / kWarpSize] = {warp.count, warp.mean, warp.m2, 0};
  __syncthreads();
  Moments one;
  if (lane < int(blockDim.x) / kWarpSize) {
    const float4 read = partials[lane];
    one = {read.x, read.y, read.z};
  }
  return lanes_merge(one, count, kWarpSize);
}

}  // namespace ridge
