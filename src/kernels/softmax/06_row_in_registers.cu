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

// Threads of a block, packs of a thread; of two tensors, half as many of each.
constexpr int kThreadsNarrow = 128, kPacksNarrow = 4;  // where lanes of a warp share a row
constexpr int kThreads = 1024, kPacks = 8;             // 64 registers
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
  // Past the end, the last row once more, so that shuffles have all lanes; it is not stored.
  const Rows<T> row(args, min(r, args.rows - 1));
  hold_row<T, op, Packs>(row, int(args.cols), first, lanes, lanes, r < args.rows,
                         [](const MaxSum& whole) { return whole; });
}

template <class T, Op op, int Packs>
__global__ void __launch_bounds__(is_deep(op, Packs) ? 2 * kThreadsDeep : kThreads)
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

// How a row is shared.
struct Plan {
  int lanes;  // none: too wide
  int packs;
};
static Plan plan_for(const Args& a) {
  const int64_t slots = slots_of(a);
  const auto lanes_for = [&](int packs) {  // whole warps
    return int((slots + packs * kWarpSize - 1) / (packs * kWarpSize)) * kWarpSize;
  };
  for (int lanes = 4; lanes <= kWarpSize; lanes *= 2) {
    if (slots <= lanes * 2) return {lanes, 2};
    if (slots <= lanes * kPacksNarrow) return {lanes, kPacksNarrow};
  }
  const int packs = kPacks / tensors(a.op), fewer = packs * 3 / 4, deep = deep_packs(a.op);
  if (slots > 2 * kThreadsDeep * deep) return {0, 0};
  const bool is_alone = slots > kThreads / 2 * packs;
  if (is_alone && (slots <= kThreadsDeep * deep || slots > kThreads * packs))
    return {lanes_for(deep), deep};
  // Of what is past the row's end nothing is loaded, but exponentials are taken.
  if (!is_alone && lanes_for(fewer) <= kThreads / 2 &&
      lanes_for(fewer) * fewer < lanes_for(packs) * packs)
    return {lanes_for(fewer), fewer};
  return {lanes_for(packs), packs};
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = supports_any(a); !s) return s;
  return plan_for(a).lanes > 0 ? kSupported : "the row does not fit the registers of a block";
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  const Plan plan = plan_for(a);
  return with_type_and_op(a, [&](auto t, auto op_constant) {
    using T = decltype(t);
    constexpr Op op = op_constant.value;
    constexpr int kMost = kPacks / tensors(op), kFewer = kMost * 3 / 4, kDeep = deep_packs(op);
    constexpr int kFewerNarrow = std::max(kFewer, kPacksNarrow);
    const unsigned lanes = unsigned(plan.lanes);
    if (lanes <= kWarpSize) {
      const auto kernel = plan.packs == 2              ? softmax_narrow_rows<T, op, 2>
                          : plan.packs == kPacksNarrow ? softmax_narrow_rows<T, op, kPacksNarrow>
                          : plan.packs == kMost        ? softmax_narrow_rows<T, op, kMost>
                                                       : softmax_narrow_rows<T, op, kFewerNarrow>;
      const int64_t blocks = (a.rows * lanes + kThreadsNarrow - 1) / kThreadsNarrow;
      kernel<<<unsigned(blocks), kThreadsNarrow, 0, stream>>>(a, plan.lanes);
    } else {
      const auto kernel = plan.packs == kDeep   ? softmax_row_a_block<T, op, kDeep>
                          : plan.packs == kMost ? softmax_row_a_block<T, op, kMost>
                                                : softmax_row_a_block<T, op, kFewer>;
      kernel<<<unsigned(a.rows), lanes, 0, stream>>>(a);
    }
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const Plan plan = plan_for(a);
  const bool deep = is_deep(a.op, plan.packs);
  const int64_t an_sm = kRegisters / (deep ? 128 : 64) / plan.lanes;  // rows
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
