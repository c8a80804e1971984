// Adds the sums of the workers of a block, or those of the slices of a tile.
#pragma once

#include <cstdint>

namespace ridge::gemv_t {

constexpr int kThreads = 256, kBlocksPerSm = 3;

__device__ __forceinline__ void add(float& sum, float x) { sum += x; }
__device__ __forceinline__ void add(float4& sum, const float4& x) {
  sum.x += x.x;
  sum.y += x.y;
  sum.z += x.z;
  sum.w += x.w;
}

// Adds load(0, c) … load(count - 1, c) for each column c (or four columns, where Sum is float4) of
// the first `used` of `columns`, a power of two; then calls put(c, total). If there are more
// threads than columns, several threads share a column. All threads of the block call this; the
// order of each sum is fixed. `shared` has room for one Sum per thread.
template <class Sum, class Load, class Put>
__device__ __forceinline__ void fold(Sum* shared, int columns, int used, int count, Load load,
                                     Put put) {
  constexpr int kUnroll = 8;
  const int across = min(columns, kThreads), log_across = __ffs(across) - 1;
  const int sharers = kThreads >> log_across, sharer = int(threadIdx.x) >> log_across;
  for (int c = int(threadIdx.x) & (across - 1); c < columns; c += kThreads) {
    Sum sum = {};
    for (int k = c < used ? sharer : count; k < count; k += kUnroll * sharers) {
      Sum x[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        x[u] = {};
        if (k + u * sharers < count) x[u] = load(k + u * sharers, c);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) add(sum, x[u]);
    }
    if (sharers > 1) {  // then the loop has one iteration: there are no more columns than threads
      __syncthreads();  // until here, `load` may have read from shared memory
      shared[threadIdx.x] = sum;  // (sharers, columns)
      __syncthreads();
      if (sharer > 0 || c >= used) return;
#pragma unroll 4
      for (int s = 1; s < sharers; ++s) add(sum, shared[s * columns + c]);
    }
    if (c < used) put(c, sum);
  }
}

}  // namespace ridge::gemv_t
