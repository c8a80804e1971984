// cross_entropy rung 06, row_in_registers: the gradient is written from the one read of the logits.
//
// Since 05_chunked: a thread keeps its packs of the row between the sum and the gradient, so loss
//   and gradient take one read and one write of the logits together. As many threads share a row as
//   it has packs for, from 4 lanes to a block of 512 (src/device/held_rows.cuh).
// Stops at: HBM, up to 6400 packs per row. For wider rows, a block has the SM to itself, and
//   nothing is loaded while it exchanges and stores.
// Not for: rows wider than the registers of an SM: more than 102400 columns of bf16.
#include "kernels/cross_entropy/packs.cuh"
#include "select/held_rows.h"

namespace ridge::cross_entropy::row_in_registers {

using held::kThreadsNarrow;
// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {3.0, 0.86}, kTunedAlone = {4.0, 0.77};

template <class T, int Packs>
__global__ void __launch_bounds__(kThreadsNarrow, 1024 / kThreadsNarrow)  // 64 registers
    cross_entropy_narrow_rows(Args a, int lanes) {
  const int first = int(threadIdx.x) & (lanes - 1);
  const int64_t thread = int64_t(blockIdx.x) * kThreadsNarrow + threadIdx.x;
  const int64_t r = thread >> (__ffs(lanes) - 1);
  // Past the end, the last row once more, so that shuffles have all lanes; it is not stored.
  hold_row<T, Packs>(a, r < a.rows ? r : a.rows - 1, first, lanes, lanes, r < a.rows,
                     [](const Statistics& whole) { return whole; });
}

template <class T, int Packs>
__global__ void __launch_bounds__(held::threads_bound(1, Packs)) cross_entropy_row_a_block(Args a) {
  __shared__ float4 partials[kWarpSize];
  hold_row<T, Packs>(a, blockIdx.x, int(threadIdx.x), int(blockDim.x), kWarpSize, true,
                     [&](const Statistics& warp) { return warps_merge(warp, partials); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = supports_any(a); !s) return s;
  return held::plan_for(most_slots(a), 1).lanes > 0
             ? kSupported
             : "the row does not fit the registers of a block";
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  const held::Plan plan = held::plan_for(most_slots(args), 1);
  return around_rows(args, stream, [&](const Args& a) {
    return with_float_type(a.dtype, [&](auto t) {
      using T = decltype(t);
      held::with_plan<1>(plan, [&](auto packs, auto narrow) {
        if constexpr (narrow.value) {
          const int64_t blocks = (a.rows * plan.lanes + kThreadsNarrow - 1) / kThreadsNarrow;
          cross_entropy_narrow_rows<T, packs.value>
              <<<unsigned(blocks), kThreadsNarrow, 0, stream>>>(a, plan.lanes);
        } else {
          cross_entropy_row_a_block<T, packs.value>
              <<<unsigned(a.rows), unsigned(plan.lanes), 0, stream>>>(a);
        }
      });
      return launch_status();
    });
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const int an_sm = held::plan_for(most_slots(a), 1).rows_per_sm(1);
  return held::rows_us(an_sm > 1 ? kTuned : kTunedAlone, bytes(a), a.rows, std::max(an_sm, 1),
                       device);
}
constinit const Rung rung = {.idea = "one read: the row stays in registers for its gradient",
                             .supports = supports,
                             .launch = launch,
                             .workspace = scratch_bytes,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::cross_entropy::row_in_registers
