// layer_norm rung 07, cluster: 2 to 16 blocks share a wide row, each with its part in registers.
//
// Since 06_row_in_registers: the blocks of a cluster write the moments of their warps into each
//   other's shared memory and meet once. So a few blocks can hold a row of 262144 columns in
//   registers, and an SM still has blocks of two rows: one loads while the other exchanges.
// Stops at: HBM; for few rows, at the barriers of the cluster, since no other work hides them.
// Not for: rows that one block holds with room for a second block on its SM (06): the blocks of a
//   cluster start together and wait for the slowest of them. Backward, where the columns' sums take
//   the registers that a wide row would need.
#include "device/ptx/cluster.cuh"
#include "kernels/layer_norm/held.cuh"
#include "select/held_rows.h"

namespace ridge::layer_norm::cluster {

using held::kMostBlocks;
// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {5.0, 0.83}, kTunedLarge = {6.0, 0.80}, kTunedAlone = {6.0, 0.76};

template <class T, bool Added, int Packs>
__global__ void __launch_bounds__(2 * held::kThreadsDeep) layer_norm_cluster(Args a) {
  __shared__ float4 partials[kMostBlocks * kWarpSize];  // (blocks of the cluster, warps)
  const int rank = int(cluster_rank()), blocks = int(cluster_size());
  const int threads = int(blockDim.x), warps = threads / kWarpSize;
  cluster_arrive_relaxed();  // this block is there to be written to
  hold_row<Added, T, Packs>(
      a, int64_t(blockIdx.x) / blocks, rank * threads + int(threadIdx.x), blocks * threads,
      kWarpSize, true, [&](const Moments& warp) {
        const int lane = threadIdx.x % kWarpSize;
        cluster_wait();  // all are there; the loads had the time until here
        if (lane < blocks)
          store_in_cluster(&partials[rank * warps + int(threadIdx.x) / kWarpSize], unsigned(lane),
                           {warp.count, warp.mean, warp.m2, 0});
        __syncwarp();
        cluster_arrive();
        cluster_wait();  // nobody writes after that, so blocks may end as they like
        Moments mine;
        for (int i = lane; i < blocks * warps; i += kWarpSize)
          mine = merged(mine, {partials[i].x, partials[i].y, partials[i].z});
        return lanes_merge(mine, float(a.cols), kWarpSize);
      });
}

static held::ClusterShape shape_for(const Args& a) {
  return held::cluster_shape_for(most_slots(a), tensors(a));
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  if (a.backward) return "the sums of the columns leave no room for wide rows";
  if (device.major != 9) return "needs the clusters of Hopper";
  const held::ClusterShape shape = shape_for(a);
  if (shape.threads == 0) return "the row does not fit the registers of 16 blocks";
  return a.rows <= INT32_MAX / shape.blocks ? kSupported : "too many rows for one grid";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const held::ClusterShape shape = shape_for(a);
  return with_type_and_residual(a, [&](auto t, auto added) -> Status {
    constexpr int kPacks = held::deep_packs(added.value ? 2 : 1);
    return held::launch_cluster(layer_norm_cluster<decltype(t), added.value, kPacks>, a, a.rows,
                                shape, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const held::ClusterShape shape = shape_for(a);
  const int an_sm = shape.threads <= held::kThreadsDeep ? 2 : 1;  // blocks
  const Tuned& tuned = an_sm == 1                       ? kTunedAlone
                       : shape.blocks > held::kPortable ? kTunedLarge
                                                        : kTuned;
  return held::rows_us(tuned, bytes(a), a.rows, double(an_sm) / shape.blocks, device);
}
constinit const Rung rung = {.idea = "2 to 16 blocks hold a wide row together",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::layer_norm::cluster
