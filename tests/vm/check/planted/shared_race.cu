// Races between the threads of a block in shared memory.
#include <cuda_fp16.h>

#include "planted.h"

constexpr int kThreads = 128;

__global__ void missing_barrier(float* d, int fixed) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = d[t];                  // BUG missing_barrier
  if (fixed) __syncthreads();
  d[t] = tile[kThreads - 1 - t];   // BUG missing_barrier
}

__global__ void loop_without_second_barrier(float* d, int fixed) {
  __shared__ float tile[kThreads];
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[t] = d[t] + k;            // BUG loop_without_second_barrier
    __syncthreads();
    sum += tile[(t + 33) % kThreads];  // BUG loop_without_second_barrier
    if (fixed) __syncthreads();
  }
  d[t] = sum;
}

__global__ void reduction_tree(float* d, int fixed) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  s[t] = d[t];
  __syncthreads();
  for (int n = kThreads / 2; n > 0; n /= 2) {
    if (t < n) s[t] += s[t + n];   // BUG reduction_tree
    if (fixed) __syncthreads();
  }
  if (t == 0) d[0] = s[0];
}

__global__ void shift_in_place(int* d, int fixed) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  s[t] = d[t];
  __syncthreads();
  const int left = s[(t + kThreads - 1) % kThreads];  // BUG shift_in_place
  if (fixed) __syncthreads();
  s[t] = left;                                        // BUG shift_in_place
  __syncthreads();
  d[t] = s[t];
}

__global__ void histogram(const int* d, int* out, int fixed) {
  __shared__ int bins[16];
  const int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  if (fixed) atomicAdd(&bins[d[t] % 16], 1);
  else bins[d[t] % 16] += t;       // BUG histogram
  __syncthreads();
  if (t < 16) out[t] = bins[t];
}

__global__ void broadcast_overwritten(float* d, int fixed) {
  __shared__ float value;
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    if (t == 0) value = d[k];      // BUG broadcast_overwritten
    __syncthreads();
    sum += value;                  // BUG broadcast_overwritten
    if (fixed) __syncthreads();
  }
  d[t] = sum;
}

__global__ void halves(half* d, int fixed) {
  __shared__ half s[kThreads];
  const int t = threadIdx.x;
  s[t] = d[t];                     // BUG halves
  if (fixed) __syncthreads();
  d[t] = s[kThreads - 1 - t];      // BUG halves
}

__global__ void two_warps_one_barrier(float* d, int fixed) {
  extern __shared__ float buffer[];
  const int t = threadIdx.x;
  if (t < 64) buffer[t] = d[t];    // BUG two_warps_one_barrier
  if (fixed) __syncthreads();
  else if (t < 64) asm volatile("bar.sync 1, 64;");
  if (t >= 64) d[t] = buffer[t - 64];  // BUG two_warps_one_barrier
}

__global__ void flag_is_plain(int* d, int fixed) {
  __shared__ int found;
  const int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (d[t] == 77) {
    if (fixed) atomicExch(&found, t);
    else found = t;                // BUG flag_is_plain
  }
  __syncthreads();
  if (t == 0) d[0] = found;
}

// nvcc loads part[2] in any case; it races only where its value is used.
template <int W>
__device__ __forceinline__ int largest(int m, const int* part, int n) {
  if constexpr (W < 8) {
    if (W * 32 < n) {
      const int x = part[W];       // BUG selected
      m = m > x ? m : x;
    }
    return largest<W + 1>(m, part, n);
  }
  return m;
}
__global__ void selected(int* d, int fixed) {
  __shared__ int part[8];
  const int t = threadIdx.x;
  if (t < 8) part[t] = d[t];
  __syncthreads();
  if (t == 32) part[2] = d[t];     // BUG selected
  if (t == 0) d[0] = largest<1>(d[0], part, fixed ? 64 : int(blockDim.x));
}

// The first atomic is the same thread's as the plain store; the others' must still not meet it.
__global__ void set_and_added_to(int* d, int fixed) {
  __shared__ int sum;
  const int t = threadIdx.x;
  if (t == 0) sum = 1;             // BUG set_and_added_to
  if (fixed) __syncthreads();
  atomicAdd(&sum, d[t]);           // BUG set_and_added_to
  __syncthreads();
  if (t == 0) d[0] = sum;
}

#define ON_ONE_BLOCK(kernel, T, shared) \
  [](int fixed) {                       \
    Array<T> d(kThreads);               \
    kernel<<<1, kThreads, shared>>>(d, fixed); \
    cudaDeviceSynchronize();            \
  }

const Planted kAll[] = {
    {"missing_barrier", "race", ON_ONE_BLOCK(missing_barrier, float, 0)},
    {"loop_without_second_barrier", "race", ON_ONE_BLOCK(loop_without_second_barrier, float, 0)},
    {"reduction_tree", "race", ON_ONE_BLOCK(reduction_tree, float, 0)},
    {"shift_in_place", "race", ON_ONE_BLOCK(shift_in_place, int, 0)},
    {"histogram", "race",
     [](int fixed) {
       Array<int> d(kThreads), out(16);
       histogram<<<1, kThreads>>>(d, out, fixed);
       cudaDeviceSynchronize();
     }},
    {"broadcast_overwritten", "race", ON_ONE_BLOCK(broadcast_overwritten, float, 0)},
    {"halves", "race", ON_ONE_BLOCK(halves, half, 0)},
    {"set_and_added_to", "race", ON_ONE_BLOCK(set_and_added_to, int, 0)},
    {"selected", "race", ON_ONE_BLOCK(selected, int, 0)},
    {"two_warps_one_barrier", "race", ON_ONE_BLOCK(two_warps_one_barrier, float, 512)},
    {"flag_is_plain", "race-any-winner",
     [](int fixed) {
       Array<int> d(kThreads);
       int h[kThreads];
       for (int& x : h) x = 77;
       cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
       flag_is_plain<<<1, kThreads>>>(d, fixed);
       cudaDeviceSynchronize();
     }},
};
PLANTED_MAIN(kAll)
