// softmax rung 06, row_in_registers: each row is read once, and stays in registers.
//
// Since 05_online: a thread keeps its packs of the row between the sum and the results, so there is
//   no second read. As many threads share a row as it has packs for, from 4 lanes to a block of
//   512, so an SM has up to 128 KB of rows under way at any width (1024 threads of 64 registers,
//   with 8 packs each). Each warp contributes one (maximum, sum) pair, at one barrier. Wider rows
//   have up to 256 threads with 25 packs each, which leaves room for a second block on the SM; it
//   loads while the first exchanges and stores.
// Stops at: HBM, up to 6400 packs per row. For wider rows, a block has the SM to itself, and
//   nothing is loaded while it exchanges and stores.
// Not for: rows wider than the registers of an SM.
#include "kernels/softmax/held.cuh"
#include "select/select.h"

namespace ridge::softmax::row_in_registers {

using held::kThreadsNarrow;
constexpr Tuned kTuned = {3.0, 0.86};
constexpr Tuned kTunedDeep = {3.0, 0.84};
constexpr Tuned kTunedAlone = {4.0, 0.85};       // one block per SM
constexpr Tuned kTunedAloneSmall = {4.0, 0.77};  // and elements of two bytes: twice the arithmetic
constexpr Tuned kTunedAloneDeep = {4.0, 0.74};

template <class T, Op op, int Packs>
__global__ void __launch_bounds__(kThreadsNarrow, 1024 / kThreadsNarrow)  // 64 registers
    softmax_narrow_rows(Args args, int lanes) {
  const int first = int(threadIdx.x) & (lanes - 1);
  const int64_t thread = int64_t(blockIdx.x) * kThreadsNarrow + threadIdx.x;
  const int64_t r = thread >> (__ffs(lanes) - 1);
  // Lanes past the end take part in the shuffles, and neither read nor store.
  const Rows<T> row(args, min(r, args.rows - 1));
  hold_row<T, op, Packs>(row, int(args.cols), first, lanes, lanes, r < args.rows,
                         [](const MaxSum& whole) { return whole; });
}

template <class T, Op op, int Packs>
__global__ void __launch_bounds__(held::threads_bound(tensors(op), Packs))
    softmax_row_a_block(Args args) {
  constexpr bool kForward = RowOp<op, Fast>::kForward;
  __shared__ float2 partials[kWarpSize];
  const Rows<T> row(args, blockIdx.x);
  hold_row<T, op, Packs>(row, int(args.cols), int(threadIdx.x), int(blockDim.x), kWarpSize, true,
                         [&](const MaxSum& warp) { return warps_merge<kForward>(warp, partials); });
}

static int64_t slots_of(const Args& a) {
  return most_slots(a.out, a.rows, a.cols, a.out_stride, int64_t(size_of(a.dtype)));
}

static held::Plan plan_for(const Args& a) { return held::plan_for(slots_of(a), tensors(a.op)); }

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = supports_any(a); !s) return s;
  return plan_for(a).lanes > 0 ? kSupported : "the row does not fit the registers of a block";
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  const held::Plan plan = plan_for(a);
  return with_type_and_op(a, [&](auto t, auto op_constant) {
    using T = decltype(t);
    constexpr Op op = op_constant.value;
    held::with_plan<tensors(op)>(plan, [&](auto packs, auto narrow) {
      if constexpr (narrow.value) {
        const int64_t blocks = (a.rows * plan.lanes + kThreadsNarrow - 1) / kThreadsNarrow;
        softmax_narrow_rows<T, op, packs.value>
            <<<unsigned(blocks), kThreadsNarrow, 0, stream>>>(a, plan.lanes);
      } else {
        softmax_row_a_block<T, op, packs.value>
            <<<unsigned(a.rows), unsigned(plan.lanes), 0, stream>>>(a);
      }
    });
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const held::Plan plan = plan_for(a);
  const bool deep = held::is_deep(tensors(a.op), plan.packs);
  const int an_sm = plan.rows_per_sm(tensors(a.op));
  if (an_sm > 1) return rows_us(deep ? kTunedDeep : kTuned, a, double(an_sm), device);
  const Tuned& alone = deep                    ? kTunedAloneDeep
                       : size_of(a.dtype) == 2 ? kTunedAloneSmall
                                               : kTunedAlone;
  return rows_us(alone, a, 1, device);
}
constinit const Rung rung = {.idea = "one read: the row stays in registers",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::softmax::row_in_registers
