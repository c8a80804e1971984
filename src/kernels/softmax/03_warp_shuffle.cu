// softmax rung 03, warp_shuffle: one warp per row; its lanes exchange maxima and sums in registers.
//
// Since 02_shared_tree: five shuffles replace a tree. There is no barrier and no shared memory, so
//   warps never wait for one another.
// Stops at: bytes in flight: each load brings 4 (or 2) bytes per lane. A wide row has only 32
//   lanes, and is read three times, from L2 if it is still there.
// Not for: few wide rows: one warp per row leaves most of the GPU idle.
#include "device/lanes.cuh"
#include "kernels/softmax/row_op.cuh"

namespace ridge::softmax::warp_shuffle {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) softmax_warp_shuffle(Args args) {
  using Operator = RowOp<op, Accurate>;
  const int lane = threadIdx.x % kWarpSize;
  const int64_t r = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (r >= args.rows) return;  // the whole warp
  const Rows<T> row(args, r);
  const int cols = int(args.cols);
  const auto b = [&](int c) { return Operator::kForward ? 0.0f : to_float(row.dy[c]); };
  float max = -INFINITY, total = 0;
  if constexpr (Operator::kForward) {
    for (int c = lane; c < cols; c += kWarpSize) max = fmaxf(max, to_float(row.in[c]));
    max = lanes_max(max, kWarpSize);
  }
  for (int c = lane; c < cols; c += kWarpSize)
    total += Operator::term(to_float(row.in[c]), b(c), max);
  total = lanes_sum(total, kWarpSize);
  const float finished = Operator::finish(total);
  for (int c = lane; c < cols; c += kWarpSize)
    row.out[c] = from_float<T>(Operator::result(to_float(row.in[c]), b(c), max, finished));
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  return with_type_and_op(a, [&](auto t, auto op) {
    softmax_warp_shuffle<decltype(t), op.value>
        <<<unsigned((a.rows + kWarps - 1) / kWarps), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one warp, one row: shuffles, no barriers",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::softmax::warp_shuffle
