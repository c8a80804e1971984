// Correct programs with bulk copies and mbarriers: rings of stages with a producer and consumers,
// whose phases wrap many times; copies that nobody reads; bulk stores from two buffers in turn;
// copies to all blocks of a cluster; the library's own barriers and pipelines.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
constexpr int kChunk = 64, kChunks = 24, kSize = kChunk * kChunks, kStages = 3, kBytes = 4 * kChunk;
constexpr int kConsumers = 64, kThreads = 32 + kConsumers, kCluster = 2;

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void init(uint64_t* barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(count)
               : "memory");
}
__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}
__device__ void expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ bool is_over(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
      " selp.u32 %0, 1, 0, p;}"
      : "=r"(done)
      : "r"(address_of(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ void wait(uint64_t* barrier, uint32_t parity) {
  while (!is_over(barrier, parity)) {
  }
}
__device__ void load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(address_of(to)),
      "l"(from), "r"(bytes), "r"(address_of(barrier))
      : "memory");
}
__device__ void load_for_all(void* to, const void* from, uint32_t bytes, uint64_t* barrier,
                             uint16_t ranks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(address_of(to)),
      "l"(from), "r"(bytes), "r"(address_of(barrier)), "h"(ranks)
      : "memory");
}
__device__ void store(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(address_of(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int Newest>
__device__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newest) : "memory");
}
__device__ bool elect() {
  uint32_t chosen;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(chosen));
  return chosen != 0;
}

// One warp fetches, two read. One lane of each reader gives the stage free.
__global__ void ring(const int* in, int* out) {
  __shared__ alignas(128) int stages[kStages][kChunk];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int t = int(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], kConsumers / 32);
    }
    fence_init();
  }
  __syncthreads();
  if (t < 32) {
    if (elect())
      for (int k = 0; k < kChunks; ++k) {
        const int s = k % kStages;
        wait(&empty[s], uint32_t(k / kStages + 1) & 1);
        expect(&full[s], kBytes);
        load(stages[s], in + k * kChunk, kBytes / 2, &full[s]);
        load(stages[s] + kChunk / 2, in + k * kChunk + kChunk / 2, kBytes / 2, &full[s]);
      }
    return;
  }
  int sum = 0;
  for (int k = 0; k < kChunks; ++k) {
    const int s = k % kStages;
    if (!is_over(&full[s], k / kStages & 1))
      wait(&full[s], k / kStages & 1);  // a look, then a wait
    sum += stages[s][t - 32] * stages[s][kThreads - 1 - t];
    __syncwarp();
    if (t % 32 == 0) arrive(address_of(&empty[s]));
  }
  out[t - 32] = sum;
}

// What is fetched is changed in place and stored from there: the load of a stage must wait for the
// store, and the store for the fences of all who write.
__global__ void through(const int* in, int* out) {
  __shared__ alignas(128) int stages[2][kChunk];
  __shared__ uint64_t full[2];
  const int t = int(threadIdx.x);
  if (t == 0) {
    init(&full[0], 1);
    init(&full[1], 1);
    fence_init();
    expect(&full[0], kBytes);
    load(stages[0], in, kBytes, &full[0]);
  }
  __syncthreads();
  for (int k = 0; k < kChunks; ++k) {
    if (t == 0 && k + 1 < kChunks) {
      wait_read<0>();  // of the stage that the next chunk goes to
      expect(&full[(k + 1) % 2], kBytes);
      load(stages[(k + 1) % 2], in + (k + 1) * kChunk, kBytes, &full[(k + 1) % 2]);
    }
    wait(&full[k % 2], k / 2 & 1);
    if (t < kChunk) stages[k % 2][t] = 3 * stages[k % 2][t] + 1;
    fence_proxy();
    __syncthreads();
    if (t == 0) store(out + k * kChunk, stages[k % 2], kBytes);
  }
}

// Writers tell the thread that stores by an mbarrier; two buffers in turn; sums in memory.
__global__ void reduced(const int* in, int* out) {
  __shared__ alignas(128) int buffer[2][kChunk];
  __shared__ uint64_t ready[2], free_again[2];
  const int t = int(threadIdx.x);
  if (t == 0)
    for (int k = 0; k < 2; ++k) {
      init(&ready[k], kConsumers);
      init(&free_again[k], 1);
    }
  __syncthreads();
  if (t == 0) {
    for (int k = 0; k < kChunks; ++k) {
      wait(&ready[k % 2], k / 2 & 1);
      fence_proxy();  // the reader's own fence does as well
      asm volatile(
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(out),
          "r"(address_of(buffer[k % 2])), "r"(kBytes)
          : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      wait_read<1>();
      if (k) arrive(address_of(&free_again[(k - 1) % 2]));
    }
  } else if (t >= 32) {
    for (int k = 0; k < kChunks; ++k) {
      if (k >= 2) wait(&free_again[k % 2], (k / 2 + 1) & 1);
      buffer[k % 2][t - 32] = in[k * kChunk + t - 32] + int(blockIdx.x);
      arrive(address_of(&ready[k % 2]));
    }
  }
}

// Each block fetches half of every chunk for both. A stage is free when the readers of both blocks
// say so, in both blocks.
__global__ void __cluster_dims__(kCluster, 1, 1) multicast(const int* in, int* out) {
  __shared__ alignas(128) int stages[kStages][kChunk];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int t = int(threadIdx.x);
  const uint32_t rank = cg::this_cluster().block_rank();
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], kCluster * kConsumers / 32);
    }
    fence_init();
  }
  cg::this_cluster().sync();
  if (t < 32) {
    if (elect())
      for (int k = 0; k < kChunks; ++k) {
        const int s = k % kStages, half = int(rank) * kChunk / kCluster;
        wait(&empty[s], uint32_t(k / kStages + 1) & 1);
        expect(&full[s], kBytes);
        load_for_all(stages[s] + half, in + k * kChunk + half, kBytes / kCluster, &full[s],
                     (1 << kCluster) - 1);
      }
  } else {
    int sum = 0;
    for (int k = 0; k < kChunks; ++k) {
      const int s = k % kStages;
      wait(&full[s], k / kStages & 1);
      sum += stages[s][kThreads - 1 - t] * int(rank + 1);
      __syncwarp();
      if (t % 32 < kCluster) arrive(at_rank(address_of(&empty[s]), uint32_t(t % 32)));
    }
    out[int(blockIdx.x) * kConsumers + t - 32] = sum;
  }
  cg::this_cluster().sync();  // nobody leaves while a copy or an arrival may come
}

// All lanes of a warp start the same store, as if one did.
__global__ void whole_warp(const int* in, int* out) {
  __shared__ alignas(128) int tile[2][kThreads];
  const int t = int(threadIdx.x);
  for (int k = 0; k < 6; ++k) {
    if (t < 32) wait_read<1>();
    __syncthreads();
    tile[k % 2][t] = in[k * kThreads + t] + 1;
    fence_proxy();
    __syncthreads();
    if (t < 32) store(out + k * kThreads, tile[k % 2], sizeof tile[0]);
  }
}

// Copies that only bring data into the L2 cache: nobody reads what they bring, so several of them
// may have the same destination at the same time. Later the memory serves for something else.
__global__ void prefetched(const int* in, int* out) {
  __shared__ alignas(128) int scratch[kChunk];
  __shared__ uint64_t full[kStages];
  const int t = int(threadIdx.x), block = int(blockIdx.x);
  if (t == 0) {
    for (uint64_t& barrier : full) init(&barrier, 1);
    fence_init();
    for (int k = 0; k < kChunks; ++k) {
      if (k >= kStages) wait(&full[k % kStages], (k / kStages - 1) & 1);
      expect(&full[k % kStages], kBytes);
      load(scratch, in + k * kChunk, kBytes, &full[k % kStages]);
    }
    for (uint64_t& barrier : full) wait(&barrier, (kChunks / kStages - 1) & 1);
  }
  __syncthreads();
  if (t < kChunk) scratch[t] = in[t + block];
  __syncthreads();
  if (t < kChunk) out[block * kChunk + t] = scratch[kChunk - 1 - t];
}

// Nobody arrives while threads wait. But they do not wait for ever: some count, some look at the
// clock, and then they arrive themselves.
__global__ void gives_up(const int* in, int* out) {
  __shared__ uint64_t counted, timed;
  const int t = int(threadIdx.x);
  if (t == 0) {
    init(&counted, kThreads);
    init(&timed, kThreads);
  }
  __syncthreads();
  for (int tries = 0; tries < 200 && !is_over(&counted, 0);) ++tries;
  arrive(address_of(&counted));
  wait(&counted, 0);
  for (const long long start = clock64(); clock64() - start < 100000 && !is_over(&timed, 0);) {
  }
  arrive(address_of(&timed));
  wait(&timed, 0);
  out[t] = in[t];
}

// The library's barrier: everybody arrives, some do something else before they wait.
__global__ void library_barrier(const int* in, int* out) {
  __shared__ int tile[kThreads];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  const int t = int(threadIdx.x);
  if (t == 0) init(&barrier, kThreads);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 5; ++k) {
    tile[t] = in[k * kThreads + t];
    auto token = barrier.arrive();
    sum += k;
    barrier.wait(std::move(token));
    sum += tile[kThreads - 1 - t];
    barrier.arrive_and_wait();
  }
  out[t] = sum;
}

// Its pipeline, with copies of all threads of the block; and one copy of the block at a barrier.
__global__ void library_pipeline(const int* in, int* out) {
  __shared__ alignas(128) int stages[2][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  auto block = cg::this_thread_block();
  const int t = int(threadIdx.x);
  if (t == 0) init(&barrier, kThreads);
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int k = 0; k <= 6; ++k) {
    if (k < 6) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stages[k % 2], in + k * kThreads, sizeof stages[0], pipeline);
      pipeline.producer_commit();
    }
    if (k == 0) continue;
    pipeline.consumer_wait();
    sum += stages[(k - 1) % 2][kThreads - 1 - t];
    pipeline.consumer_release();
  }
  block.sync();
  for (int k = 0; k < 2; ++k) {
    cuda::memcpy_async(block, stages[0], in + k * kThreads,
                       cuda::aligned_size_t<16>(sizeof stages[0]), barrier);
    barrier.arrive_and_wait();
    sum += stages[0][kThreads - 1 - t];
    block.sync();
  }
  out[t] = sum;
}

int main() {
  int *in, *out;
  std::vector<int> values(kSize), results(kSize);
  for (int i = 0; i < kSize; ++i) values[size_t(i)] = i * 7 % 31;
  cudaMalloc(&in, kSize * 4);
  cudaMalloc(&out, kSize * 4);
  cudaMemcpy(in, values.data(), kSize * 4, cudaMemcpyHostToDevice);
  for (auto kernel : {ring, through, reduced, multicast, whole_warp, prefetched, gives_up,
                      library_barrier, library_pipeline}) {
    const bool of_several = kernel == reduced || kernel == prefetched;
    const int blocks = of_several ? 3 : kernel == multicast ? 2 * kCluster : 1;
    cudaMemset(out, 0, kSize * 4);
    kernel<<<blocks, kThreads>>>(in, out);
    cudaMemcpy(results.data(), out, kSize * 4, cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int i = 0; i < kSize; ++i) sum += long(i + 1) * results[size_t(i)];
    std::printf("%ld\n", sum);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
