// Member masks that do not say who is there.
#include "planted.h"

__global__ void shuffle_leaves_out(int* d, int fixed) {
  const int t = threadIdx.x;
  d[t] = __shfl_down_sync(fixed ? ~0u : 0x7fffffffu, d[t], 1);  // BUG shuffle_leaves_out
}

__global__ void meet_leaves_out(int* d, int fixed) {
  const int t = threadIdx.x;
  if (t < 20) {
    d[t] = t;
    __syncwarp(fixed ? 0xfffffu : 0xffffu);  // BUG meet_leaves_out
    d[t] += 1;
  }
}

__global__ void ballot_leaves_out(unsigned* d, int fixed) {
  const int t = threadIdx.x;
  d[t] = __ballot_sync(fixed ? ~0u : 0xfffffffeu, t & 1);  // BUG ballot_leaves_out
}

__global__ void masks_differ(int* d, int fixed) {
  const int t = threadIdx.x;
  const unsigned mask = fixed || t < 16 ? ~0u : 0xffff0000u;
  d[t] = __shfl_xor_sync(mask, d[t], 1);  // BUG masks_differ
}

__global__ void never_comes(int* d, int fixed) {
  const int t = threadIdx.x;
  if (fixed || t < 16) d[t] = __reduce_add_sync(~0u, t);  // BUG never_comes
  else asm volatile("barrier.sync 3, 64;");  // BUG never_comes
}

// Lanes that are not there have no value to read. A lane whose source lies outside reads itself.
__global__ void reads_who_has_left(int* d, int fixed) {
  const int t = threadIdx.x;
  if (!fixed && t >= 20) return;
  int v = t < 20 ? d[t] : 0;
  for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);  // BUG reads_who_has_left
  if (t == 0) d[0] = v;
}

__global__ void reads_who_stays_out(int* d, int fixed) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, t < 16);
  if (t < 16) d[t] = __shfl_xor_sync(mask, d[t], fixed ? 8 : 16);  // BUG reads_who_stays_out
  else d[t] = __shfl_sync(~mask, d[t], t);  // itself
}

__global__ void reads_who_never_was(int* d, int fixed) {
  const int t = threadIdx.x;
  d[t] += __shfl_sync(fixed ? 0xfffffu : ~0u, d[t], fixed ? (t + 1) % 20 : t + 1);  // BUG reads_who_never_was
}

#define ON_ONE_WARP(kernel, T)    \
  [](int fixed) {                 \
    Array<T> d(32);               \
    kernel<<<1, 32>>>(d, fixed);  \
    cudaDeviceSynchronize();      \
  }

const Planted kAll[] = {
    {"shuffle_leaves_out", "mask", ON_ONE_WARP(shuffle_leaves_out, int)},
    {"meet_leaves_out", "mask", ON_ONE_WARP(meet_leaves_out, int)},
    {"ballot_leaves_out", "mask", ON_ONE_WARP(ballot_leaves_out, unsigned)},
    {"masks_differ", "mask", ON_ONE_WARP(masks_differ, int)},
    {"reads_who_has_left", "mask", ON_ONE_WARP(reads_who_has_left, int)},
    {"reads_who_stays_out", "mask", ON_ONE_WARP(reads_who_stays_out, int)},
    {"reads_who_never_was", "mask",
     [](int fixed) {
       Array<int> d(32);
       reads_who_never_was<<<1, 20>>>(d, fixed);
       cudaDeviceSynchronize();
     }},
    {"never_comes", "deadlock", ON_ONE_WARP(never_comes, int)},
};
PLANTED_MAIN(kAll)
