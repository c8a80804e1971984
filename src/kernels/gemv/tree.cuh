// The sum of a block: a tree in shared memory, one barrier per level.
#pragma once

namespace ridge::gemv {

// sums: (Threads), one per thread; afterwards thread 0 finds the total in sums[0].
template <int Threads>
__device__ __forceinline__ void tree_sum(float* sums) {
  for (int half = Threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
}

}  // namespace ridge::gemv
