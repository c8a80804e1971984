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

// One step of a bitonic sort of n keys: pairs at a distance of each other get into order.
__device__ __forceinline__ void sort_step(SortKey* keys, int n, int run, int distance) {
  for (int pair = int(threadIdx.x); pair < n / 2; pair += int(blockDim.x)) {
    const int i = 2 * pair - (pair & (distance - 1)), j = i + distance;
    const SortKey first = keys[i], second = keys[j];
    if ((first < second) == ((i & run) == 0)) {
      keys[i] = second;
      keys[j] = first;
    }
  }
}

// `count` keys; there is room for the next power of two, and zeros fill it. Ends with a barrier.
// Up to a distance of 32, the pairs of a warp are 64 neighbouring keys, which no other warp
// touches: such steps need no barrier of the block, and warps without pairs do not take part in
// them. All threads of the block, in whole warps.
__device__ inline void block_sort(SortKey* keys, int count) {
  constexpr int kOwn = 2 * kWarpSize;  // keys of a warp
  const int n = power_of_two_from(count);
  for (int i = count + int(threadIdx.x); i < n; i += int(blockDim.x)) keys[i] = 0;
  __syncthreads();
  const bool has_pairs = (int(threadIdx.x) & ~(kWarpSize - 1)) < n / 2;
  const auto sort_own = [&](int run) {
    for (int distance = min(run, kOwn) / 2; distance > 0; distance /= 2) {
      sort_step(keys, n, run, distance);
      __syncwarp();
    }
  };
  if (has_pairs)
    for (int run = 2; run <= min(n, kOwn); run *= 2) sort_own(run);
  for (int run = 2 * kOwn; run <= n; run *= 2) {
    __syncthreads();
    for (int distance = run / 2; distance > kWarpSize; distance /= 2) {
      if (has_pairs) sort_step(keys, n, run, distance);
      __syncthreads();
    }
    if (has_pairs) sort_own(run);
  }
  __syncthreads();
}

}  // namespace ridge
