// group_norm rung 06, row_in_registers: each row is read once, and stays in registers.
//
// Since 05_slices: a thread keeps its packs of the row between the statistics and the results, so
//   there is no second read, and one launch instead of three. As many threads share a row as it
//   has packs for, up to a block. Each warp takes its own mean and the distances from it, and
//   contributes them at one barrier.
// Stops at: HBM. For rows of more than 6400 packs, a block has the SM to itself, and nothing is
//   loaded while it exchanges and stores.
// Not for: rows wider than the registers of an SM; backward, whose sums are those of channels.
#include "kernels/group_norm/held.cuh"
#include "select/held_rows.h"

namespace ridge::group_norm::row_in_registers {

// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {3.0, 0.86}, kTunedAlone = {4.0, 0.80};

template <class T, int Packs>
__global__ void __launch_bounds__(held::threads_bound(1, Packs))
    group_norm_row_per_block(Args a, Divider by_inner) {
  __shared__ float4 partials[kWarpSize];
  hold_row<T, Packs>(
      a, by_inner, blockIdx.x, int(threadIdx.x), int(blockDim.x),
      [&](const Moments& warp) { return warps_merge(warp, float(a.cols()), partials); });
}

// Where the plan has lanes of a warp share it with other rows, the row has it for itself.
static held::Plan plan_for(const Args& a) {
  held::Plan plan = held::plan_for(most_slots(a), 1);
  if (plan.lanes > 0) plan.lanes = std::max(plan.lanes, kWarpSize);
  return plan;
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = supports_any(a); !s) return s;
  if (a.backward) return "the sums of the channels come first";
  return plan_for(a).lanes > 0 ? kSupported : "the row does not fit the registers of a block";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const held::Plan plan = plan_for(a);
  return with_float_type(a.dtype, [&](auto t) {
    held::with_plan<1>(plan, [&](auto packs, auto) {
      group_norm_row_per_block<decltype(t), packs.value>
          <<<unsigned(a.rows()), unsigned(plan.lanes), 0, stream>>>(a, by_inner(a));
    });
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const int an_sm = plan_for(a).rows_per_sm(1);
  return held::rows_us(an_sm > 1 ? kTuned : kTunedAlone, bytes(a, 1), a.rows(), std::max(an_sm, 1),
                       device);
}
constinit const Rung rung = {.idea = "one read: the row stays in registers",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::group_norm::row_in_registers
