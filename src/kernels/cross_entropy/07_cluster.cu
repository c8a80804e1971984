// cross_entropy rung 07, cluster: 2 to 16 blocks share a wide row, each with its part in registers.
//
// Since 06_row_in_registers: the blocks of a cluster write the statistics of their warps into each
//   other's shared memory and meet once. So rows of up to 262144 columns of f32 stay in registers,
//   and an SM still has blocks of two rows: one loads while the other exchanges and stores.
// Stops at: HBM; for few rows, at the barriers of the cluster.
// Not for: rows that one block holds with room for a second block on its SM (06); backward alone,
//   whose blocks have nothing to tell each other.
#include "device/ptx/cluster.cuh"
#include "kernels/cross_entropy/packs.cuh"
#include "select/held_rows.h"

namespace ridge::cross_entropy::cluster {

using held::kPacksFull;
constexpr int kPacksDeep = held::deep_packs(1);
// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {5.0, 0.83}, kTunedFull = {5.0, 0.83};
constexpr Tuned kTunedLarge = {6.0, 0.80}, kTunedAlone = {6.0, 0.76};

template <class T, int Packs>
__global__ void __launch_bounds__(Packs == kPacksFull ? held::kThreadsFull : 2 * held::kThreadsDeep)
    cross_entropy_cluster(Args a) {
  __shared__ float4 partials[held::kMostBlocks * kWarpSize];  // (blocks of the cluster, warps)
  const int rank = int(cluster_rank()), blocks = int(cluster_size());
  const int threads = int(blockDim.x), warps = threads / kWarpSize;
  cluster_arrive_relaxed();  // this block is there to be written to
  hold_row<T, Packs>(a, int(blockIdx.x) / blocks, rank * threads + int(threadIdx.x),
                     blocks * threads, kWarpSize, true, [&](const Statistics& warp) {
                       const int lane = threadIdx.x % kWarpSize;
                       cluster_wait();  // all are there; the loads had the time until here
                       if (lane < blocks)
                         store_in_cluster(&partials[rank * warps + int(threadIdx.x) / kWarpSize],
                                          unsigned(lane), {warp.max, warp.sum, warp.total, 0});
                       __syncwarp();
                       cluster_arrive();
                       cluster_wait();  // nobody writes after that, so blocks may end as they like
                       Statistics mine;
                       for (int i = lane; i < blocks * warps; i += kWarpSize) {
                         const float4 one = partials[i];
                         const float max = fmaxf(mine.max, one.x);
                         mine = {max,
                                 mine.sum * max_sum::rescaled(mine.max, max) +
                                     one.y * max_sum::rescaled(one.x, max),
                                 mine.total + one.z};
                       }
                       return lanes_merge(mine);
                     });
}

static held::ClusterShape shape_for(const Args& a) {
  return held::full_cluster_shape_for(most_slots(a));
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.backward) return "blocks of backward have nothing to tell each other";
  if (const Support s = supports_any(a); !s) return s;
  if (device.major != 9) return "needs the clusters of Hopper";
  const held::ClusterShape shape = shape_for(a);
  if (shape.threads == 0) return "the row does not fit the registers of 16 blocks";
  return a.rows <= INT32_MAX / shape.blocks ? kSupported : "too many rows for one grid";
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return around_rows(args, stream, [&](const Args& a) {
    return with_float_type(a.dtype, [&](auto t) {
      using T = decltype(t);
      const held::ClusterShape shape = shape_for(a);
      return held::launch_cluster(shape.packs == kPacksFull ? cross_entropy_cluster<T, kPacksFull>
                                                            : cross_entropy_cluster<T, kPacksDeep>,
                                  a, a.rows, shape, stream);
    });
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const held::ClusterShape shape = shape_for(a);
  const bool is_full = shape.packs == kPacksFull;
  const int an_sm = !is_full && shape.threads <= held::kThreadsDeep ? 2 : 1;  // blocks
  const Tuned& tuned = is_full                          ? kTunedFull
                       : an_sm == 1                     ? kTunedAlone
                       : shape.blocks > held::kPortable ? kTunedLarge
                                                        : kTuned;
  return held::rows_us(tuned, bytes(a), a.rows, double(an_sm) / shape.blocks, device);
}
constinit const Rung rung = {.idea = "2 to 16 blocks hold a wide row together",
                             .supports = supports,
                             .launch = launch,
                             .workspace = scratch_bytes,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::cross_entropy::cluster
