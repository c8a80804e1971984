// Races between the threads of a block in global memory.
#include "planted.h"

constexpr int kThreads = 96;

__global__ void reverse(int* d, int fixed) {
  const int t = threadIdx.x, value = d[kThreads - 1 - t];  // BUG reverse
  if (fixed) __syncthreads();
  d[t] = value;                                            // BUG reverse
}

__global__ void neighbour(int* d, int* out, int fixed) {
  const int t = threadIdx.x;
  d[t] = t * t;                            // BUG neighbour
  if (fixed) __syncthreads();
  out[t] = d[(t + 1) % kThreads];          // BUG neighbour
}

__global__ void counter(int* d, int fixed) {
  if (fixed) atomicAdd(d, 1);
  else d[0] = d[0] + threadIdx.x;          // BUG counter
}

__global__ void scan(int* d, int fixed) {
  const int t = threadIdx.x;
  for (int n = 1; n < kThreads; n *= 2) {
    const int add = t >= n ? d[t - n] : 0;  // BUG scan
    if (fixed) __syncthreads();
    d[t] += add;                            // BUG scan
    __syncthreads();
  }
}

__device__ int best;
__global__ void variable(int* d, int fixed) {
  const int t = threadIdx.x;
  if (fixed) atomicMax(&best, d[t] + t);
  else if (d[t] + t > 0) best = d[t] + t;   // BUG variable
}

__global__ void bytes(unsigned char* d, int fixed) {
  const int t = threadIdx.x;
  d[t] = (unsigned char)t;                  // BUG bytes
  if (fixed) __syncthreads();
  d[t + kThreads] = d[kThreads - 1 - t];    // BUG bytes
}

#define ON_ONE_BLOCK(kernel)                 \
  [](int fixed) {                            \
    Array<int> d(kThreads);                  \
    kernel<<<1, kThreads>>>(d, fixed);       \
    cudaDeviceSynchronize();                 \
  }

const Planted kAll[] = {
    {"reverse", "race", ON_ONE_BLOCK(reverse)},
    {"neighbour", "race",
     [](int fixed) {
       Array<int> d(kThreads), out(kThreads);
       neighbour<<<1, kThreads>>>(d, out, fixed);
       cudaDeviceSynchronize();
     }},
    {"counter", "race", ON_ONE_BLOCK(counter)},
    {"scan", "race", ON_ONE_BLOCK(scan)},
    {"variable", "race", ON_ONE_BLOCK(variable)},
    {"bytes", "race",
     [](int fixed) {
       Array<unsigned char> d(2 * kThreads);
       bytes<<<1, kThreads>>>(d, fixed);
       cudaDeviceSynchronize();
     }},
};
PLANTED_MAIN(kAll)
