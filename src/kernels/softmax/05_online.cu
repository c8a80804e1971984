// softmax rung 05, online: maximum and sum in one pass.
//
// Since 04_vectors: a sum relative to the maximum so far, rescaled when the maximum grows, needs no
//   earlier pass for the maximum: the row is read twice, not three times.
// Stops at: the second read, which misses L2 once the rows under way are larger than the L2.
// Not for: rows that fit into the registers of a block: one read is enough there (06). This rung is
//   for rows too wide for any memory on the chip, on GPUs without clusters.
#include "kernels/softmax/max_sum.cuh"
#include "kernels/softmax/row_packs.cuh"
#include "select/select.h"

namespace ridge::softmax::online {

constexpr int kThreads = 512;
constexpr int kPacks = 4;
constexpr Tuned kTuned = {4.0, 0.80};

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) softmax_online(Args args) {
  using Operator = RowOp<op, Fast>;
  constexpr bool kForward = Operator::kForward;
  __shared__ float2 partials[kWarpSize];
  const Rows<T> row(args, blockIdx.x);
  const RowSlots<T> slots(row.out, int(args.cols));
  Pack<T> a[kPacks], b[kForward ? 1 : kPacks] = {};
  const auto for_all_packs = [&](auto f) {
    for_packs_of_row<kForward, kThreads>(a, b, row, slots, f);
  };

  MaxSum mine = empty<kForward>();
  for_all_packs([&](int) { add_packs<T, op>(mine, a, b); });
  const MaxSum whole = warps_merge<kForward>(lanes_merge<kForward>(mine), partials);
  const float finished = Operator::finish(whole.sum);
  for_all_packs([&](int first) {
    store_row<T, kPacks>(row.out, slots, first, kThreads, [&](int p) {
      float y[kPackSize<T>];
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i)
        y[i] = Operator::result(to_float(a[p][i]), to_float(b[kForward ? 0 : p][i]), whole.max,
                                finished);
      return from_floats<T>(y);
    });
  });
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  return with_type_and_op(a, [&](auto t, auto op) {
    softmax_online<decltype(t), op.value><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return rows_us(kTuned, a, double(device.threads_per_sm) / kThreads, device, 2);
}
constinit const Rung rung = {.idea = "maximum and sum in one pass: two reads, not three",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::softmax::online
