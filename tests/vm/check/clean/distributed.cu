// Correct programs in which blocks of a cluster use each other's shared memory: sums, histograms,
// rings and flags. What orders them is a barrier of the cluster, an mbarrier, or a release that the
// other block has acquired.
#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <vector>

namespace cg = cooperative_groups;
constexpr int kThreads = 96, kCluster = 4, kBlocks = 2 * kCluster, kSize = kThreads * kBlocks;
constexpr int kTurns = 4;
#define IN_CLUSTERS __global__ void __cluster_dims__(kCluster, 1, 1)

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void init(uint64_t& barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&barrier)), "r"(count)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void wait(uint64_t& barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;"
        " selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(address_of(&barrier)), "r"(parity)
        : "memory");
}
__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

// Every block sums up the partial sums of all.
IN_CLUSTERS sums(const int* in, int* out) {
  __shared__ int partial, values[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x);
  values[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  if (t == 0) {
    partial = 0;
    for (int i = 0; i < kThreads; ++i) partial += values[i];
  }
  cluster.sync();
  int total = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
    total += *cluster.map_shared_rank(&partial, rank);
  out[blockIdx.x * kThreads + t] = total;
  cluster.sync();  // nobody leaves while others read
}

// One histogram, with its bins spread over the blocks.
IN_CLUSTERS histogram(const int* in, int* out) {
  __shared__ int bins[32];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x);
  if (t < 32) bins[t] = 0;
  cluster.sync();
  const int value = in[blockIdx.x * kThreads + t];
  atomicAdd(cluster.map_shared_rank(bins, unsigned(value) % kCluster) + value, 1);
  cluster.sync();
  if (t < 32) out[blockIdx.x * kThreads + t] = bins[t];
}

// Values go around: each turn has its own buffer, and a barrier of the cluster behind it.
IN_CLUSTERS around(const int* in, int* out) {
  __shared__ int buffer[2][kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x);
  const unsigned next = (cluster.block_rank() + 1) % kCluster;
  int value = in[blockIdx.x * kThreads + t];
  cluster.sync();
  for (int turn = 0; turn < kTurns; ++turn) {
    cluster.map_shared_rank(buffer[turn % 2], next)[t] = value;
    cluster.sync();
    value += buffer[turn % 2][kThreads - 1 - t];
  }
  out[blockIdx.x * kThreads + t] = value;
}

// The same by mbarriers: the sender waits until its buffer is free, and the receiver until it is
// full.
IN_CLUSTERS ring(const int* in, int* out) {
  __shared__ int buffer[kThreads];
  __shared__ alignas(8) uint64_t full, empty;
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x);
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % kCluster,
                 before = (rank + kCluster - 1) % kCluster;
  if (t == 0) {
    init(full, kThreads);
    init(empty, kThreads);
  }
  cluster.sync();
  int value = in[blockIdx.x * kThreads + t];
  for (int turn = 0; turn < kTurns; ++turn) {
    if (turn) wait(empty, (turn - 1) % 2);  // the next block has read what was sent before
    cluster.map_shared_rank(buffer, next)[t] = value;
    arrive(at_rank(address_of(&full), next));
    wait(full, turn % 2);
    value += buffer[kThreads - 1 - t];
    arrive(at_rank(address_of(&empty), before));
  }
  wait(empty, (kTurns - 1) % 2);
  out[blockIdx.x * kThreads + t] = value;
  cluster.sync();
}

// A value and a flag in the other block's memory.
IN_CLUSTERS flags(const int* in, int* out) {
  __shared__ int value;
  __shared__ cuda::atomic<int, cuda::thread_scope_device> flag;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) new (&flag) cuda::atomic<int, cuda::thread_scope_device>(0);
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % kCluster;
  if (threadIdx.x == 0) {
    *cluster.map_shared_rank(&value, next) = in[blockIdx.x];
    cluster.map_shared_rank(&flag, next)->store(1, cuda::memory_order_release);
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[blockIdx.x] = value;
  }
  cluster.sync();
}

// Threads without work leave before the barriers; those that have left count as arrived.
IN_CLUSTERS some_leave(const int* in, int* out) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x), i = int(blockIdx.x) * kThreads + t;
  if (t >= 64) return;
  tile[t] = in[i];
  cluster.sync();
  out[i] = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % kCluster)[63 - t];
  cluster.sync();
}

// Arrival and wait apart, with work between that needs nothing of the others.
IN_CLUSTERS apart(const int* in, int* out) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x), i = int(blockIdx.x) * kThreads + t;
  tile[t] = in[i];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  const int own = in[i] * 3;
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[i] = own + cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % kCluster)[t];
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

int main() {
  int *in, *out;
  std::vector<int> values(kSize);
  for (int i = 0; i < kSize; ++i) values[size_t(i)] = i * 7 % 31;
  cudaMalloc(&in, kSize * 4);
  cudaMalloc(&out, kSize * 4);
  cudaMemcpy(in, values.data(), kSize * 4, cudaMemcpyHostToDevice);
  std::vector<int> results(kSize);
  for (auto kernel : {sums, histogram, around, ring, flags, some_leave, apart}) {
    cudaMemset(out, 0, kSize * 4);
    kernel<<<kBlocks, kThreads>>>(in, out);
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
