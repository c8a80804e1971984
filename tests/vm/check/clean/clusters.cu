// Correct programs of blocks that work together in clusters: what orders them is a barrier of the
// cluster, or an mbarrier in another block's shared memory.
#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
constexpr int kThreads = 64, kCluster = 4, kBlocks = 2 * kCluster, kSize = kThreads * kBlocks;
constexpr int kRounds = 3;

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;"
        " selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
}
__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

// Shared memory that only the neighbour writes, and that is read in another order.
__global__ void __cluster_dims__(kCluster, 1, 1) neighbours(const int* in, int* out) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x), i = int(blockIdx.x) * kThreads + t;
  cluster.sync();
  cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % kCluster)[t] = in[i];
  cluster.sync();
  out[i] = tile[kThreads - 1 - t];
}

// The barrier of the cluster is a barrier of the block, and orders global memory, too.
__global__ void __cluster_dims__(kCluster, 1, 1) through_global(const int* in, int* out) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = int(threadIdx.x), i = int(blockIdx.x) * kThreads + t;
  const int first = i - int(cluster.block_rank()) * kThreads - t;
  tile[t] = in[i];
  out[i] = 0;
  cluster.sync();
  out[first + (i - first + kThreads) % (kCluster * kThreads)] = tile[kThreads - 1 - t];
}

// Each round: the block before lets this one go on, by an arrival from outside; no other barrier. A
// slow warp may be a round behind, so that each round has an mbarrier of its own.
__global__ void __cluster_dims__(kCluster, 1, 1) turns(const int* in, int* out) {
  __shared__ __align__(8) uint64_t turn[kRounds];
  __shared__ int value;
  const uint32_t rank = blockIdx.x % kCluster;
  if (threadIdx.x == 0) {
    for (uint64_t& one : turn) init(address_of(&one), 1);
    value = 0;
  }
  cg::this_cluster().sync();
  int* const total = out + blockIdx.x / kCluster;  // in global memory, one thread after the other
  for (int round = 0; round < kRounds; ++round) {
    if (rank || round) wait(address_of(&turn[rank ? round : round - 1]), 0);
    if (threadIdx.x == unsigned(round * 32 % kThreads)) {
      value += in[rank];
      *total = (rank || round ? *total : 0) + value;
      arrive(at_rank(address_of(&turn[round]), (rank + 1) % kCluster));
    }
  }
  cg::this_cluster().sync();
}

// Asynchronous stores and copies from block to block; nobody reads before its mbarrier says so.
__global__ void __cluster_dims__(kCluster, 1, 1) sent(const int* in, int* out) {
  __shared__ __align__(16) int box[kThreads], tile[kThreads];
  __shared__ __align__(8) uint64_t stored, copied;
  const uint32_t rank = blockIdx.x % kCluster, next = (rank + 1) % kCluster, t = threadIdx.x;
  if (t == 0) {
    init(address_of(&stored), 1);
    init(address_of(&copied), 1);
    for (uint64_t* barrier : {&stored, &copied})
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)),
          "n"(4 * kThreads)
          : "memory");
  }
  cg::this_cluster().sync();
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   at_rank(address_of(&box[t]), next)),
               "r"(in[t] + int(rank)), "r"(at_rank(address_of(&stored), next))
               : "memory");
  wait(address_of(&stored), 0);
  __syncthreads();
  if (t == 0) {
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %3, "
        "[%2];" ::"r"(at_rank(address_of(tile), next)),
        "r"(address_of(box)), "r"(at_rank(address_of(&copied), next)), "n"(4 * kThreads)
        : "memory");
  }
  wait(address_of(&copied), 0);
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];
  cg::this_cluster().sync();
}

int main() {
  int *in, *out;
  std::vector<int> values(kSize);
  for (int i = 0; i < kSize; ++i) values[size_t(i)] = i * 7 % 31;
  cudaMalloc(&in, kSize * 4);
  cudaMalloc(&out, kSize * 4);
  cudaMemcpy(in, values.data(), kSize * 4, cudaMemcpyHostToDevice);
  std::vector<int> results(kSize);
  for (auto kernel : {neighbours, through_global, turns, sent}) {
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
