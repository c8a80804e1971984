// Clusters: blocks that run together and reach into each other's shared memory.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
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
__device__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Each block writes its own number into all others, reads the right neighbour's, adds to the
// left's.
__global__ void neighbours(int* out) {
  __shared__ int from[16], mine, sum;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), lane = threadIdx.x;
  if (lane == 0) mine = int(rank) * 10, sum = 0;
  cluster.sync();
  if (lane < size) cluster.map_shared_rank(from, lane)[rank] = int(rank) + 100;
  atomicAdd(cluster.map_shared_rank(&sum, (rank + size - 1) % size), int(lane));
  const int right = *cluster.map_shared_rank(&mine, (rank + 1) % size);
  cluster.sync();
  if (lane < size) out[blockIdx.x * 32 + lane] = from[lane];
  if (lane == 30) out[blockIdx.x * 32 + 30] = sum;
  if (lane == 31) out[blockIdx.x * 32 + 31] = right;
}

// A pointer to a block's own shared memory means the same place in every block of the cluster.
__global__ void __cluster_dims__(2, 1, 1) pass_pointer(int* out) {
  __shared__ int value;
  __shared__ int* pointer;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    value = 7 + int(rank);
    *cluster.map_shared_rank(&pointer, 1 - rank) = &value;
  }
  cluster.sync();
  if (threadIdx.x == 0) out[rank] = *pointer;
  cluster.sync();
}

// Rounds of a ring: each block hands a number on with st.async and is told by an mbarrier.
__global__ void __cluster_dims__(4, 1, 1) ring(int* out, int rounds) {
  __shared__ __align__(8) uint64_t full, empty;
  __shared__ int box;
  const uint32_t rank = blockIdx.x % 4, next = (rank + 1) % 4, before = (rank + 3) % 4;
  if (threadIdx.x == 0) {
    init(address_of(&full), 1);
    init(address_of(&empty), 1);
  }
  cg::this_cluster().sync();
  if (threadIdx.x == 0) {
    int value = int(rank);
    for (int round = 0; round < rounds; ++round) {
      const uint32_t parity = uint32_t(round) & 1;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" ::"r"(address_of(&full))
                   : "memory");
      if (round) wait(address_of(&empty), parity ^ 1);  // the next block has read what we sent
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
              at_rank(address_of(&box), next)),
          "r"(value + 1), "r"(at_rank(address_of(&full), next))
          : "memory");
      wait(address_of(&full), parity);
      value = box;
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                       at_rank(address_of(&empty), before))
                   : "memory");
    }
    out[blockIdx.x] = value;
  }
  cg::this_cluster().sync();
}

// One block loads for all four.
__global__ void __cluster_dims__(4, 1, 1) multicast(const int* in, int* out) {
  __shared__ __align__(128) int tile[64];
  __shared__ __align__(8) uint64_t barrier;
  const uint32_t at = address_of(&barrier);
  if (threadIdx.x == 0) {
    init(at, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at) : "memory");
  }
  cg::this_cluster().sync();
  if (blockIdx.x == 2 && threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 256, [%2], %3;" ::"r"(address_of(tile)),
        "l"(in), "r"(at), "h"((uint16_t)15)
        : "memory");
  wait(at, 0);
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x + 32] = tile[threadIdx.x + 32];
  cg::this_cluster().sync();
}

// Reads from a block that has ended.
__global__ void __cluster_dims__(2, 1, 1) leaves_early(int* out) {
  __shared__ int value;
  value = 1;
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  if (cluster.block_rank() == 1) return;
  for (int i = 0; i < 1000; ++i) __nanosleep(100);
  out[0] = *cluster.map_shared_rank(&value, 1);
}

template <class... T>
cudaError_t launch(void (*kernel)(T...), unsigned blocks, unsigned cluster, T... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

int main() {
  int* device;
  std::vector<int> out(1024);
  const auto fetch = [&] {
    RIDGE_CUDA(cudaMemcpy(out.data(), device, out.size() * 4, cudaMemcpyDeviceToHost), cudaSuccess);
  };
  RIDGE_CUDA(cudaMalloc(&device, out.size() * 4), cudaSuccess);
  RIDGE_CUDA(cudaFuncSetAttribute(neighbours, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
             cudaSuccess);
  for (const unsigned size : {1u, 2u, 3u, 8u, 16u}) {
    RIDGE_CUDA(launch(neighbours, 2 * size, size, device), cudaSuccess);
    fetch();
    for (unsigned b = 0; b < 2 * size; ++b) {
      for (unsigned k = 0; k < size; ++k) RIDGE_CHECK(out[b * 32 + k] == int(k) + 100);
      RIDGE_CHECK(out[b * 32 + 30] == 31 * 16);
      RIDGE_CHECK(out[b * 32 + 31] == int((b + 1) % size) * 10);
    }
  }
  // A kernel without __cluster_dims__ can be given them.
  for (const auto attribute :
       {cudaFuncAttributeRequiredClusterWidth, cudaFuncAttributeRequiredClusterHeight,
        cudaFuncAttributeRequiredClusterDepth})
    RIDGE_CUDA(cudaFuncSetAttribute(neighbours, attribute,
                                    attribute == cudaFuncAttributeRequiredClusterWidth ? 4 : 1),
               cudaSuccess);
  neighbours<<<4, 32>>>(device);
  fetch();
  for (int b = 0; b < 4; ++b) RIDGE_CHECK(out[size_t(b) * 32 + 31] == (b + 1) % 4 * 10);
  RIDGE_CUDA(cudaFuncSetAttribute(pass_pointer, cudaFuncAttributeRequiredClusterWidth, 2),
             cudaErrorNotPermitted);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorNotPermitted);

  pass_pointer<<<2, 32>>>(device);
  fetch();
  RIDGE_CHECK(out[0] == 8 && out[1] == 7);
  ring<<<8, 32>>>(device, 1001);
  fetch();
  for (int b = 0; b < 8; ++b) RIDGE_CHECK(out[size_t(b)] == (b % 4 + 3) % 4 + 1001);

  int* in;
  RIDGE_CUDA(cudaMalloc(&in, 256), cudaSuccess);
  for (int i = 0; i < 64; ++i) out[size_t(i)] = i * i;
  RIDGE_CUDA(cudaMemcpy(in, out.data(), 256, cudaMemcpyHostToDevice), cudaSuccess);
  multicast<<<4, 32>>>(in, device);
  fetch();
  for (int i = 0; i < 256; ++i) RIDGE_CHECK(out[size_t(i)] == (i % 64) * (i % 64));

  RIDGE_CUDA(launch(pass_pointer, 2, 1, device), cudaErrorInvalidClusterSize);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorInvalidClusterSize);
  leaves_early<<<2, 32>>>(device);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  return failures != 0;
}
