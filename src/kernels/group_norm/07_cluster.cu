// group_norm rung 07, cluster: the blocks of a cluster hold a row together.
//
// Since 06_row_in_registers: up to 16 blocks share a row, so rows of up to 3.2 MB are read once,
//   and 32 groups of one sample keep 64 to 512 blocks busy. Each warp sends its moments to every
//   block of the cluster, and each block merges them in the same order.
// Stops at: HBM, and the time in which a cluster loads nothing because its blocks wait for one
//   another.
// Not for: many short rows, each of which fits a block; GPUs before Hopper.
#include "device/ptx/cluster.cuh"
#include "kernels/group_norm/held.cuh"
#include "select/held_rows.h"

namespace ridge::group_norm::cluster {

using held::kMostBlocks;
// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {5.0, 0.83}, kTunedLarge = {6.0, 0.80}, kTunedAlone = {6.0, 0.76};
constexpr int kPacks = held::deep_packs(1);

struct WithDivider {
  Args a;
  Divider by_inner;
};

template <class T>
__global__ void __launch_bounds__(2 * held::kThreadsDeep) group_norm_cluster(WithDivider of) {
  __shared__ float4 partials[kMostBlocks * kWarpSize];  // (blocks of the cluster, warps)
  const Args& a = of.a;
  const int rank = int(cluster_rank()), blocks = int(cluster_size());
  const int threads = int(blockDim.x), warps = threads / kWarpSize;
  cluster_arrive_relaxed();  // this block is there to be written to
  hold_row<T, kPacks>(a, of.by_inner, int64_t(blockIdx.x) / blocks,
                      rank * threads + int(threadIdx.x), blocks * threads,
                      [&](const Moments& warp) {
                        const int lane = threadIdx.x % kWarpSize;
                        cluster_wait();  // all are there; the loads had the time until here
                        if (lane < blocks)
                          store_in_cluster(&partials[rank * warps + int(threadIdx.x) / kWarpSize],
                                           unsigned(lane), {warp.count, warp.mean, warp.m2, 0});
                        __syncwarp();
                        cluster_arrive();
                        cluster_wait();  // nobody writes after that, so blocks may end as they like
                        Moments mine;
                        for (int i = lane; i < blocks * warps; i += kWarpSize)
                          mine = merged(mine, {partials[i].x, partials[i].y, partials[i].z});
                        return lanes_merge(mine, float(a.cols()), kWarpSize);
                      });
}

static held::ClusterShape shape_for(const Args& a) {
  return held::cluster_shape_for(most_slots(a), 1);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  if (a.backward) return "the sums of the channels come first";
  if (device.major != 9) return "needs the clusters of Hopper";
  const held::ClusterShape shape = shape_for(a);
  if (shape.threads == 0) return "the row does not fit the registers of 16 blocks";
  return a.rows() <= INT32_MAX / shape.blocks ? kSupported : "too many rows for one grid";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    return held::launch_cluster(group_norm_cluster<decltype(t)>, WithDivider{a, by_inner(a)},
                                a.rows(), shape_for(a), stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const held::ClusterShape shape = shape_for(a);
  const int an_sm = shape.threads <= held::kThreadsDeep ? 2 : 1;  // blocks
  const Tuned& tuned = an_sm == 1                       ? kTunedAlone
                       : shape.blocks > held::kPortable ? kTunedLarge
                                                        : kTuned;
  return held::rows_us(tuned, bytes(a, 1), a.rows(), double(an_sm) / shape.blocks, device);
}
constinit const Rung rung = {.idea = "2 to 16 blocks hold a wide row together",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::group_norm::cluster
