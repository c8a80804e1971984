// Barriers that not all threads reach, or not the same one.
#include "planted.h"

constexpr int kThreads = 64;

__global__ void part_of_a_warp(int* d, int fixed) {
  const int t = threadIdx.x;
  d[t] = t;
  if (fixed || t < 48) __syncthreads();  // BUG part_of_a_warp
  d[t] += 1;
}

__global__ void two_barriers(int* d, int fixed) {
  const int t = threadIdx.x;
  if (fixed) {
    __syncthreads();
  } else if (t < 32) {
    d[t] = 1;
    __syncthreads();               // BUG two_barriers
  } else {
    d[t] = 2;
    __syncthreads();               // BUG two_barriers
  }
  d[t] += 1;
}

__global__ void loop_of_lanes(int* d, int fixed) {
  const int t = threadIdx.x, n = fixed ? 2 : 1 + t % 2;
  for (int k = 0; k < n; ++k) {
    d[t] += k;
    __syncthreads();               // BUG loop_of_lanes
  }
}

__global__ void one_warp_stays_away(int* d, int fixed) {
  const int t = threadIdx.x;
  for (int k = 0; k < (fixed || t < 32 ? 2 : 1); ++k) {
    d[t] += k;
    asm volatile("barrier.sync 0;");  // BUG one_warp_stays_away
  }
  if (!fixed) {
    if (t >= 32)
      asm volatile("barrier.sync 1;");  // BUG one_warp_stays_away
  }
}

// Warps with less to do leave the loop, and the kernel, while the others still wait for each other.
__global__ void left_at_different_turns(int* d, int fixed) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  for (int k = 0; k < (fixed ? 3 : t / 32 + 1); ++k) {
    s[t] = t + k;
    __syncthreads();               // BUG left_at_different_turns
    d[t] += s[t];
  }
}

__global__ void too_many_expected(int* d, int fixed) {
  const int t = threadIdx.x;
  d[t] = t;
  asm volatile("bar.sync 1, %0;" ::"r"(fixed ? 64 : 96));  // BUG too_many_expected
  d[t] += 1;
}

#define ON_ONE_BLOCK(kernel)             \
  [](int fixed) {                        \
    Array<int> d(kThreads);              \
    kernel<<<1, kThreads>>>(d, fixed);   \
    cudaDeviceSynchronize();             \
  }

const Planted kAll[] = {
    {"part_of_a_warp", "barrier", ON_ONE_BLOCK(part_of_a_warp)},
    {"two_barriers", "barrier", ON_ONE_BLOCK(two_barriers)},
    {"loop_of_lanes", "barrier", ON_ONE_BLOCK(loop_of_lanes)},
    {"one_warp_stays_away", "deadlock", ON_ONE_BLOCK(one_warp_stays_away)},
    {"left_at_different_turns", "barrier", ON_ONE_BLOCK(left_at_different_turns)},
    {"too_many_expected", "deadlock", ON_ONE_BLOCK(too_many_expected)},
};
PLANTED_MAIN(kAll)
