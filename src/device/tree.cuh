// A tree in shared memory over the threads of a block.
#pragma once

namespace ridge {

constexpr int kTreeThreads = 256;

// Every thread gets the combination of what all threads have.
template <class V, class F>
__device__ __forceinline__ V tree(const V& mine, V (&values)[kTreeThreads], F combine) {
  values[threadIdx.x] = mine;
  for (int half = kTreeThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half)
      values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
  }
  __syncthreads();
  const V all = values[0];
  __syncthreads();  // before the next tree writes there
  return all;
}

}  // namespace ridge
