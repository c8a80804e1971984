// 17_cluster_reduction: a level between block and grid: blocks that see each other's shared memory.
//
// Since Hopper (sm_90), blocks can be launched in clusters. All blocks of a cluster run at the same
// time, close together, and can read and write each other's shared memory. A reduction gets one
// more level from that: the blocks of a cluster leave their sums with one of them, and only this
// one needs an atomic of the whole grid. Two meetings are needed. Nobody may write to a block that
// has not started, and nobody may read the sums before all are there.
#include <cooperative_groups.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"

namespace cg = cooperative_groups;

constexpr int kWarp = 32;
constexpr int kBlock = 256;
constexpr int kWarpsPerBlock = kBlock / kWarp;
constexpr int kCluster = 8;  // blocks; every device with clusters can do 8
constexpr int kClustersPerSm = 1;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kAllLanes, value, offset);
  }
  return value;
}

__global__ void __cluster_dims__(kCluster, 1, 1) sum(const float* in, int n, float* total) {
  __shared__ float warp_totals[kWarpsPerBlock];
  __shared__ float block_totals[kCluster];  // used in the cluster's first block only
  cg::cluster_group cluster = cg::this_cluster();
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;

  // Thread, warp: as in 06_reduction.
  float value = 0.0f;
  const int stride = gridDim.x * kBlock;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += stride) value += in[i];
  value = warp_sum(value);
  if (lane == 0) warp_totals[warp] = value;
  cluster.sync();  // a barrier of the block, too; and now all blocks of the cluster have started

  // Block: its sum goes straight into the shared memory of the cluster's first block.
  if (warp == 0) {
    value = warp_sum(lane < kWarpsPerBlock ? warp_totals[lane] : 0.0f);
    if (lane == 0) {
      float* const there = cluster.map_shared_rank(block_totals, 0);  // the same array, over there
      there[cluster.block_rank()] = value;
    }
  }
  cluster.sync();  // all sums have arrived; from here on nobody needs another block

  // Cluster: one atomic for eight blocks.
  if (cluster.block_rank() == 0 && warp == 0) {
    value = warp_sum(lane < kCluster ? block_totals[lane] : 0.0f);
    if (lane == 0) atomicAdd(total, value);
  }
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 1000003, 1, 1 << 28}});
  const int n = args.size(0);
  std::vector<float> in(n);
  std::mt19937 random(1);
  for (float& value : in) value = float(random() >> 8) * 0x1p-24f;  // [0, 1)

  int has_clusters = 0, sms = 0;
  CHECK(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  if (!has_clusters) {
    fprintf(stderr, "this device has no clusters: they came with Hopper (sm_90)\n");
    return 4;
  }
  // The grid must be a multiple of the cluster.
  const int clusters = std::min(ceil_div(n, kCluster * kBlock), sms * kClustersPerSm);
  const int blocks = clusters * kCluster;

  float *device_in = nullptr, *device_total = nullptr;  // (n), (1)
  CHECK(cudaMalloc(&device_in, n * sizeof(float)));
  CHECK(cudaMalloc(&device_total, sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_total, 0, sizeof(float)));
  sum<<<blocks, kBlock>>>(device_in, n, device_total);  // __cluster_dims__ says how they group
  CHECK(cudaGetLastError());
  float total = 0.0f;
  CHECK(cudaMemcpy(&total, device_total, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_total));

  double want = 0.0;
  for (float value : in) want += value;
  // A number passes through the additions of its thread, three trees, and one atomic per cluster.
  const int additions = ceil_div(n, blocks * kBlock) + 3 * 5 + clusters;
  const double tolerance = additions * std::ldexp(1.0, -24) * want;
  if (!is_close(total, want, tolerance)) {
    return fail("the sum is %.9g, expected %.9g within %.2g", total, want, tolerance);
  }
  printf("summed %d numbers with %d blocks in %d clusters of %d\n", n, blocks, clusters, kCluster);
  printf("  atomic additions          %d; without clusters it would be %d\n", clusters, blocks);
  printf("  in double, one by one     %.3f\n", want);
  printf("  in float, as a tree       %.3f  off by %.3f, allowed %.3f\n", total,
         std::fabs(total - want), tolerance);
  return 0;
}
