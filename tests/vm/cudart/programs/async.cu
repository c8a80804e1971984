// Asynchronous copies and barriers as libcu++ and the intrinsics make them.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.h"

namespace cg = cooperative_groups;
constexpr int kThreads = 256, kStages = 2, kTiles = 8;

// Each thread copies a word, all meet at the barrier, each reads another's.
__global__ void by_barrier(int* out, const int* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], in + threadIdx.x, sizeof(int), barrier);
  barrier.wait(barrier.arrive());
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
  barrier.arrive_and_wait();
  if (threadIdx.x % 2) return barrier.arrive_and_drop();
  barrier.arrive_and_wait();
  barrier.arrive_and_wait();
  out[threadIdx.x] += 1;
}

// A whole tile, which sm_90 copies as one block of bytes.
__global__ void by_block(int* out, const int* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[kThreads];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), tile, in, cuda::aligned_size_t<16>(sizeof tile),
                     barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void by_pipeline(int* out, const int* in) {
  const auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ alignas(16) int tile[kStages][kThreads];
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int fetched = 0, k = 0; k < kTiles; ++k) {
    for (; fetched < kTiles && fetched < k + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % kStages], in + fetched * kThreads,
                         cuda::aligned_size_t<16>(sizeof tile[0]), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tile[k % kStages][kThreads - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// Half of the warps produce, the other half consume.
__global__ void by_roles(int* out, const int* in) {
  const auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int tile[kStages][kThreads / 2];
  const bool produces = threadIdx.x < kThreads / 2;
  const int lane = threadIdx.x % (kThreads / 2);
  auto pipeline = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int k = 0; k < kTiles; ++k) {
    if (produces) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tile[k % kStages][lane], in + k * kThreads + lane, sizeof(int), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      sum += tile[k % kStages][kThreads / 2 - 1 - lane];
      pipeline.consumer_release();
    }
  }
  if (!produces) out[lane] = sum;
}

__global__ void by_primitives(int* out, const int* in) {
  __shared__ alignas(16) int4 tile[2][kThreads];
  const int4* rows = reinterpret_cast<const int4*>(in);
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[k][threadIdx.x], rows + k * kThreads + threadIdx.x, sizeof(int4),
                            k * 8);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  int sum = tile[0][kThreads - 1 - threadIdx.x].w;
  __pipeline_wait_prior(0);
  __syncthreads();
  const int4 zfilled = tile[1][kThreads - 1 - threadIdx.x];
  out[threadIdx.x] = sum + zfilled.y + zfilled.z + zfilled.w;
}

int main() {
  int *in, *out;
  RIDGE_CUDA(cudaMallocManaged(&in, kTiles * kThreads * sizeof(int)), cudaSuccess);
  RIDGE_CUDA(cudaMallocManaged(&out, kThreads * sizeof(int)), cudaSuccess);
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = 3 * i;

  by_barrier<<<1, kThreads>>>(out, in);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) RIDGE_CHECK(out[i] == 3 * (kThreads - 1 - i) + (i % 2 == 0));

  by_block<<<1, kThreads>>>(out, in);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) RIDGE_CHECK(out[i] == 3 * (kThreads - 1 - i));

  int first = 0;  // of every tile
  for (int k = 0; k < kTiles; ++k) first += 3 * k * kThreads;
  by_pipeline<<<1, kThreads>>>(out, in);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) RIDGE_CHECK(out[i] == first + 3 * kTiles * (kThreads - 1 - i));

  by_roles<<<1, kThreads>>>(out, in);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads / 2; ++i)
    RIDGE_CHECK(out[i] == first + 3 * kTiles * (kThreads / 2 - 1 - i));

  by_primitives<<<1, kThreads>>>(out, in);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) {
    const int row = kThreads - 1 - i;
    RIDGE_CHECK(out[i] == 3 * (4 * row + 3) + 3 * (4 * (kThreads + row) + 1));
  }
  return failures != 0;
}
