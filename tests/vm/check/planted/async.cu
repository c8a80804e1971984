// Asynchronous copies: used too early, overwritten under way, waited for by the wrong threads.
#include <cuda_pipeline.h>

#include "planted.h"

constexpr int kThreads = 64;

__global__ void no_wait(const int* in, int* out, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // BUG no_wait
  __pipeline_commit();
  if (fixed) __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[kThreads - 1 - t];               // BUG no_wait
}

__global__ void one_group_too_few(const int* in, int* out, int fixed) {
  __shared__ int tile[2][kThreads];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[k][t], &in[k * kThreads + t], 4);  // BUG one_group_too_few
    __pipeline_commit();
  }
  if (fixed) __pipeline_wait_prior(0);
  else __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = tile[0][kThreads - 1 - t] + tile[1][kThreads - 1 - t];    // BUG one_group_too_few
}

__global__ void not_committed(const int* in, int* out, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // BUG not_committed
  if (fixed) __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[t];                              // BUG not_committed
}

__global__ void target_written(const int* in, int* out, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // BUG target_written
  __pipeline_commit();
  if (fixed) __pipeline_wait_prior(0);
  tile[t] = t;                                   // BUG target_written
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[t];
}

__global__ void source_written(int* in, int* out, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // BUG source_written
  __pipeline_commit();
  if (fixed) __pipeline_wait_prior(0);
  in[t] = 0;                                     // BUG source_written
  __pipeline_wait_prior(0);
  out[t] = tile[t];
}

// Each thread has waited for its own copies only.
__global__ void no_barrier(const int* in, int* out, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // BUG no_barrier
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  if (fixed) __syncthreads();
  out[t] = tile[kThreads - 1 - t];               // BUG no_barrier
}

// The next copy may overtake those who still read.
__global__ void refilled_too_early(const int* in, int* out, int fixed) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[t], &in[k * kThreads + t], 4);  // BUG refilled_too_early
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[kThreads - 1 - t];                                // BUG refilled_too_early
    if (fixed) __syncthreads();
  }
  out[t] = sum;
}

#define ON_ONE_BLOCK(kernel)                         \
  [](int fixed) {                                    \
    Array<int> in(2 * kThreads), out(kThreads);      \
    kernel<<<1, kThreads>>>(in, out, fixed);         \
    cudaDeviceSynchronize();                         \
  }

const Planted kAll[] = {
    {"no_wait", "async", ON_ONE_BLOCK(no_wait)},
    {"one_group_too_few", "async", ON_ONE_BLOCK(one_group_too_few)},
    {"not_committed", "async", ON_ONE_BLOCK(not_committed)},
    {"target_written", "async", ON_ONE_BLOCK(target_written)},
    {"source_written", "async", ON_ONE_BLOCK(source_written)},
    {"no_barrier", "async", ON_ONE_BLOCK(no_barrier)},
    {"refilled_too_early", "race", ON_ONE_BLOCK(refilled_too_early)},
};
PLANTED_MAIN(kAll)
