// Races between the lanes of a warp, where nothing but __syncwarp orders them.
#include "planted.h"

__global__ void no_syncwarp(int* d, int fixed) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = d[t];                     // BUG no_syncwarp
  if (fixed) __syncwarp();
  d[t] = s[31 - t];                // BUG no_syncwarp
}

__global__ void volatile_is_no_order(int* d, int fixed) {
  __shared__ int s[64];
  volatile int* v = s;
  const int t = threadIdx.x;
  v[t] = d[t];
  v[t + 32] = d[t];
  __syncwarp();
  for (int n = 16; n > 0; n /= 2) {
    const int other = v[t + n];    // BUG volatile_is_no_order
    if (fixed) __syncwarp();
    v[t] = v[t] + other;           // BUG volatile_is_no_order
    if (fixed) __syncwarp();
  }
  d[t] = v[t];
}

__global__ void shuffle_is_no_order(int* d, int fixed) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = d[t];                     // BUG shuffle_is_no_order
  const int sum = __shfl_xor_sync(~0u, d[t], 1);
  if (fixed) __syncwarp();
  d[t] = sum + s[t ^ 1];           // BUG shuffle_is_no_order
}

__global__ void half_a_warp_meets(int* d, int fixed) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = d[t];                     // BUG half_a_warp_meets
  if (fixed) __syncwarp();
  else __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
  d[t] = s[t ^ 16];                // BUG half_a_warp_meets
}

__global__ void leader_writes(int* d, int fixed) {
  __shared__ int s;
  const int t = threadIdx.x;
  if (t == 0) s = d[0];            // BUG leader_writes
  if (fixed) __syncwarp();
  d[t] = s;                        // BUG leader_writes
}

__global__ void lanes_store_one_word(int* d, int fixed) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (fixed) s[t] = t;
  else s[t / 2] = t;               // BUG lanes_store_one_word
  __syncwarp();
  if (t < 16) d[t] = s[t];
}

// Not inlined, so that the compiler does not see which memory it is.
__device__ __noinline__ int neighbour(volatile int* v, int t, int fixed) {
  v[t] = t * t;                    // BUG volatile_pointer
  if (fixed) __syncwarp();
  return v[t ^ 1];                 // BUG volatile_pointer
}
__global__ void volatile_pointer(int* d, int fixed) {
  __shared__ int s[32];
  d[threadIdx.x] = neighbour(s, threadIdx.x, fixed);
}

__global__ void volatile_global(int* d, int fixed) {
  volatile int* v = d;
  const int t = threadIdx.x;
  v[t] = t * t;                    // BUG volatile_global
  if (fixed) __syncwarp();
  const int other = v[t ^ 1];      // BUG volatile_global
  __syncwarp();
  v[t] = other;
}

#define ON_ONE_WARP(kernel)       \
  [](int fixed) {                 \
    Array<int> d(64);             \
    kernel<<<1, 32>>>(d, fixed);  \
    cudaDeviceSynchronize();      \
  }

const Planted kAll[] = {
    {"no_syncwarp", "race", ON_ONE_WARP(no_syncwarp)},
    {"volatile_is_no_order", "race", ON_ONE_WARP(volatile_is_no_order)},
    {"volatile_pointer", "race", ON_ONE_WARP(volatile_pointer)},
    {"volatile_global", "race", ON_ONE_WARP(volatile_global)},
    {"shuffle_is_no_order", "race", ON_ONE_WARP(shuffle_is_no_order)},
    {"half_a_warp_meets", "race", ON_ONE_WARP(half_a_warp_meets)},
    {"leader_writes", "race", ON_ONE_WARP(leader_writes)},
    {"lanes_store_one_word", "race", ON_ONE_WARP(lanes_store_one_word)},
};
PLANTED_MAIN(kAll)
