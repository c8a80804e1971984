// Clusters: what their launch and their barrier cost, and shared memory of other blocks.
#include "device/ptx/cluster.cuh"
#include "measure.h"

namespace measure {
namespace {

__global__ void nothing() {}

__global__ void cluster_barriers(int rounds, long long* cycles) {
#if __CUDA_ARCH__ >= 900
  ridge::cluster_arrive();
  ridge::cluster_wait();
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    ridge::cluster_arrive();
    ridge::cluster_wait();
  }
  end_cycles(start, cycles);
#endif
}

[[maybe_unused]] __device__ u32 in_block(u32 address, u32 rank) {
  u32 there = 0;
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
#endif
  return there;
}

// Every block reads the shared memory of the next one: dependent loads, or 16 bytes per lane.
template <bool kChase>
__global__ void __launch_bounds__(1024) remote(int rounds, long long* cycles, u32* sink) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(16) u32 words[8192];
  const u32 here = u32(__cvta_generic_to_shared(words));
  const u32 there = in_block(here, (ridge::cluster_rank() + 1) % ridge::cluster_size());
  for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = i * 37 % 8192 * 4;
  ridge::cluster_arrive();
  ridge::cluster_wait();
  u32 sum = 0;
  const long long start = begin_cycles();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if constexpr (kChase) {
        asm volatile("ld.volatile.shared::cluster.u32 %0,[%1];" : "=r"(sum) : "r"(there + sum));
      } else {
        u32 x, y, z, w;
        asm volatile("ld.volatile.shared::cluster.v4.u32 {%0,%1,%2,%3},[%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(there + threadIdx.x * 16 + u32(u % 2) * 16384));
        sum ^= x ^ y ^ z ^ w;
      }
    }
  if (sum == 0x12345678) *sink = sum;
  end_cycles(start, cycles);
  ridge::cluster_arrive();  // nobody ends while another block reads from it
  ridge::cluster_wait();
#endif
}

template <class Kernel, class... Arguments>
void launch(Kernel kernel, int blocks, int threads, int cluster, Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(blocks), config.blockDim = unsigned(threads), config.stream = stream();
  config.attrs = &attribute, config.numAttrs = 1;
  if (cluster > 8)
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace

void clusters() {
  if (card().arch < 900) return;
  u32* const sink = static_cast<u32*>(device_memory(4));
  const int sizes[] = {1, 2, 4, 8, 16};
  {
    Curve curve("cluster.graph_us_by_size", "blocks per cluster", "us",
                "per node of a chain of 32 empty kernels of 128 blocks of 128 threads");
    for (const int size : sizes)
      curve.at(size, graph_us(9, 32, [&](int) { launch(nothing, 128, 128, size); }));
  }
  {
    Curve curve(
        "cluster.blocks_per_us_by_size", "blocks per cluster", "blocks per us",
        "empty blocks of 128 threads; from the difference between grids of 2^14 and 2^16 blocks");
    for (const int size : sizes) {
      const double few = median(time_us(9, [&] { launch(nothing, 1 << 14, 128, size); }));
      Samples many = time_us(9, [&] { launch(nothing, 1 << 16, 128, size); });
      for (double& us : many) us = ((1 << 16) - (1 << 14)) / (us - few);
      curve.at(size, many);
    }
  }
  {
    Curve curve("cluster.barrier_by_size", "blocks per cluster", "cycles",
                "arrive and wait of 128 threads per block, in a row");
    for (const int size : sizes)
      curve.at(size, cycles_of(5, size, 256, [&] {
                 launch(cluster_barriers, size, 128, size, 256, cycle_slots());
               }));
  }
  {
    Curve latency("cluster.shared_latency_by_size", "blocks per cluster", "cycles",
                  "one warp follows pointers in the next block's shared memory");
    Curve loads("cluster.shared_load_16_by_size", "blocks per cluster",
                "cycles per warp load and SM",
                "32 warps of every block load 16 bytes per lane from the next block's shared "
                "memory, all SMs");
    for (const int size : sizes) {
      const int blocks = card().sms / 16 * 16;
      latency.at(size, cycles_of(5, size, 256, [&] {
                   launch(remote<true>, size, 32, size, 64, cycle_slots(), sink);
                 }));
      loads.at(size, cycles_of(5, blocks, 4.0 * 32 * 64, [&] {
                 launch(remote<false>, blocks, 1024, size, 64, cycle_slots(), sink);
               }));
    }
  }
  {
    Curve curve("cluster.most_active_by_size", "blocks per cluster", "clusters",
                "cudaOccupancyMaxActiveClusters for blocks of 1024 threads");
    for (const int size : sizes) {
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {unsigned(size), 1, 1};
      cudaLaunchConfig_t config{};
      config.gridDim = unsigned(size * 128), config.blockDim = 1024;
      config.attrs = &attribute, config.numAttrs = 1;
      int count = 0;
      CHECK(cudaOccupancyMaxActiveClusters(&count, remote<false>, &config));
      curve.at(size, {double(count)});
    }
  }
}

}  // namespace measure
