// Bitonic sort of keys of 64 bits in shared memory by one block, the largest first.
#pragma once

#include "device/lanes.cuh"

namespace ridge {

using SortKey = unsigned long long;

__host__ __device__ constexpr int power_of_two_from(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

// `count` keys; there is room for the next power of two, and zeros fill it. Ends with a barrier.
// Up to a distance of 32, the pairs of a warp are 64 neighbouring keys, which no other warp
// touches: such steps need no barrier of the block. All threads of the block, in whole warps.
__device__ inline void block_sort(SortKey* keys, int count) {
  const int n = power_of_two_from(count);
  for (int i = count + int(threadIdx.x); i < n; i += int(blockDim.x)) keys[i] = 0;
  __syncthreads();
  for (int run = 2; run <= n; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2) {
      for (int pair = int(threadIdx.x); pair < n / 2; pair += int(blockDim.x)) {
        const int i = 2 * pair - (pair & (distance - 1)), j = i + distance;
        const SortKey first = keys[i], second = keys[j];
        if ((first < second) == ((i & run) == 0)) {
          keys[i] = second;
          keys[j] = first;
        }
      }
      const int next = distance > 1 ? distance / 2 : run;
      if (next > kWarpSize || distance > kWarpSize) __syncthreads();
      else __syncwarp();
    }
  __syncthreads();
}

}  // namespace ridge
