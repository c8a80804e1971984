// softmax rung 08, cluster: 2 to 16 blocks share a wide row, each with its part in registers.
//
// Since 06_row_in_registers: the blocks of a cluster write the (maximum, sum) pairs of their warps
//   into each other's shared memory and meet once. So a few blocks can hold a row of 262144 columns
//   in registers, and an SM still has blocks of two rows: one loads while the other exchanges.
// Since 07_row_in_shared: only those pairs pass through shared memory.
// Stops at: HBM; for few rows, at the barriers of the cluster, since no other work hides them.
// Not for: rows that one block holds with room for a second block on its SM (06): the blocks of a
//   cluster start together and wait for the slowest of them.
#include "device/ptx/cluster.cuh"
#include "kernels/softmax/held.cuh"
#include "select/select.h"

namespace ridge::softmax::cluster {

using held::kMostBlocks, held::kPacksFull, held::kPortable, held::kThreadsDeep, held::kThreadsFull;
constexpr int kMostThreads = 2 * kThreadsDeep;  // a block of deep threads, two in an SM or alone
constexpr Tuned kTuned = {5.0, 0.83};
constexpr Tuned kTunedLarge = {6.0, 0.80};  // more than kPortable blocks
constexpr Tuned kTunedAlone = {6.0, 0.76};  // one block per SM
constexpr Tuned kTunedFull = {5.0, 0.83};

template <class T, Op op, int Packs>
__global__ void __launch_bounds__(Packs == kPacksFull ? kThreadsFull : kMostThreads)
    softmax_cluster(Args args) {
  constexpr bool kForward = RowOp<op, Fast>::kForward;
  __shared__ float2 partials[kMostBlocks * kWarpSize];  // (blocks of the cluster, warps)
  const int rank = int(cluster_rank()), blocks = int(cluster_size());
  const int threads = int(blockDim.x), warps = threads / kWarpSize;
  cluster_arrive_relaxed();  // this block is there to be written to
  const Rows<T> row(args, int(blockIdx.x) / blocks);
  hold_row<T, op, Packs>(
      row, int(args.cols), rank * threads + int(threadIdx.x), blocks * threads, kWarpSize, true,
      [&](const MaxSum& warp) {
        const int lane = threadIdx.x % kWarpSize;
        cluster_wait();  // all are there; the loads had the time until here
        if (lane < blocks)
          store_in_cluster(&partials[rank * warps + int(threadIdx.x) / kWarpSize], unsigned(lane),
                           {warp.max, warp.sum});
        __syncwarp();
        cluster_arrive();
        cluster_wait();  // nobody writes after that, so blocks may end as they like
        MaxSum mine = empty<kForward>();
        for (int i = lane; i < blocks * warps; i += kWarpSize) {
          const float2 one = partials[i];
          const float max = fmaxf(mine.max, one.x);
          mine = {max, mine.sum * rescaled(mine.max, max) + one.y * rescaled(one.x, max)};
        }
        return lanes_merge<kForward>(mine);
      });
}

using Shape = held::ClusterShape;
static Shape shape_for(const Args& a) {
  const int64_t slots = most_slots(a.out, a.rows, a.cols, a.out_stride, int64_t(size_of(a.dtype)));
  return is_backward(a.op) ? held::cluster_shape_for(slots, tensors(a.op))
                           : held::full_cluster_shape_for(slots);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  if (device.major != 9) return "needs the clusters of Hopper";
  const Shape shape = shape_for(a);
  if (shape.threads == 0) return "the row does not fit the registers of 16 blocks";
  return a.rows <= INT32_MAX / shape.blocks ? kSupported : "too many rows for one grid";
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  const Shape shape = shape_for(a);
  return with_type_and_op(a, [&](auto t, auto op) -> Status {
    using T = decltype(t);
    auto kernel = softmax_cluster<T, op.value, held::deep_packs(tensors(op.value))>;
    if constexpr (!is_backward(op.value))
      if (shape.packs == kPacksFull) kernel = softmax_cluster<T, op.value, kPacksFull>;
    return held::launch_cluster(kernel, a, a.rows, shape, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const Shape shape = shape_for(a);
  const bool is_full = shape.packs == kPacksFull;
  const int blocks = !is_full && shape.threads <= kThreadsDeep ? 2 : 1;  // an SM
  const Tuned& tuned = is_full                    ? kTunedFull
                       : blocks == 1              ? kTunedAlone
                       : shape.blocks > kPortable ? kTunedLarge
                                                  : kTuned;
  return rows_us(tuned, a, double(blocks) / shape.blocks, device);
}
constinit const Rung rung = {.idea = "2 to 16 blocks hold a wide row together",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::softmax::cluster
