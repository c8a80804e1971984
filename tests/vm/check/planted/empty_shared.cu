// Reads of shared memory that no thread has written.
#include "planted.h"

constexpr int kThreads = 64;

__global__ void halo(const int* in, int* out, int fixed) {
  __shared__ int tile[kThreads + 2];
  const int t = threadIdx.x;
  tile[t + 1] = in[t];
  if (fixed && t < 2) tile[t * (kThreads + 1)] = 0;
  __syncthreads();
  out[t] = tile[t] + tile[t + 2];  // BUG halo
}

__global__ void sums(const int* in, int* out, int fixed) {
  __shared__ int sum[8];
  const int t = threadIdx.x;
  if (fixed && t < 8) sum[t] = 0;
  __syncthreads();
  atomicAdd(&sum[t % 8], in[t]);   // BUG sums
  __syncthreads();
  if (t < 8) out[t] = sum[t];
}

__global__ void guarded_load(const int* in, int* out, int n, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  if (t < n) tile[t] = in[t];
  else if (fixed) tile[t] = 0;
  __syncthreads();
  out[t] = tile[kThreads - 1 - t]; // BUG guarded_load
}

__global__ void warp_sums(const int* in, int* out, int fixed) {
  __shared__ int sum[32];
  const int t = threadIdx.x;
  const int value = __reduce_add_sync(~0u, in[t]);
  if (t % 32 == 0) sum[t / 32] = value;
  __syncthreads();
  if (t < 32) {
    const int mine = !fixed || t < kThreads / 32 ? sum[t] : 0;  // BUG warp_sums
    out[t] = __reduce_add_sync(~0u, mine);
  }
}

__global__ void dynamic(const int* in, int* out, int fixed) {
  extern __shared__ int buffer[];
  const int t = threadIdx.x;
  buffer[fixed ? t : t + kThreads] = in[t];
  __syncthreads();
  out[t] = buffer[t ^ 1];          // BUG dynamic
}

// nvcc loads all of them and selects: what counts is where the condition holds.
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
__global__ void selected(const int* in, int* out, int fixed) {
  __shared__ int part[8];
  const int t = threadIdx.x;
  if (t % 32 == 0) part[t / 32] = in[t];
  __syncthreads();
  if (t == 0) *out = largest<1>(in[0], part, fixed ? int(blockDim.x) : int(blockDim.x) + 32);
}

#define ON_ONE_BLOCK(kernel)                     \
  [](int fixed) {                                \
    Array<int> in(kThreads), out(kThreads);      \
    kernel<<<1, kThreads, 1024>>>(in, out, fixed); \
    cudaDeviceSynchronize();                     \
  }

const Planted kAll[] = {
    {"halo", "uninitialised", ON_ONE_BLOCK(halo)},
    {"sums", "uninitialised", ON_ONE_BLOCK(sums)},
    {"guarded_load", "uninitialised",
     [](int fixed) {
       Array<int> in(kThreads), out(kThreads);
       guarded_load<<<1, kThreads>>>(in, out, 50, fixed);
       cudaDeviceSynchronize();
     }},
    {"warp_sums", "uninitialised", ON_ONE_BLOCK(warp_sums)},
    {"selected", "uninitialised", ON_ONE_BLOCK(selected)},
    {"dynamic", "uninitialised", ON_ONE_BLOCK(dynamic)},
};
PLANTED_MAIN(kAll)
