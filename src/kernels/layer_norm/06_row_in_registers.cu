// layer_norm rung 06, row_in_registers: each row is read once, and stays in registers.
//
// Since 05_vectors: a thread keeps its packs of the row between the statistics and the results, so
//   there is no second read. As many threads share a row as it has packs for, from 4 lanes to a
//   block, so an SM has up to 128 KB of rows under way at any width. Each warp takes its own mean
//   and the distances from it, and contributes them at one barrier. Backward, x and dy are read
//   once: a thread has the same columns in every row that its block takes, and keeps their sums of
//   dgamma and dbeta in registers until the last row. Of two-byte formats the next row is loaded
//   while this one is reduced and stored.
// Stops at: HBM. Forward, for rows of more than 6400 packs, a block has the SM to itself, and
//   nothing is loaded while it exchanges and stores.
// Not for: rows wider than the registers of an SM; backward, with two sums per column, that is
//   8192 columns of f32 and 12288 of the others.
#include "kernels/layer_norm/backward.cuh"
#include "kernels/layer_norm/held.cuh"
#include "select/held_rows.h"

namespace ridge::layer_norm::row_in_registers {

using held::kThreadsNarrow;
// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {3.0, 0.86}, kTunedAlone = {4.0, 0.80}, kTunedBackward = {6.0, 0.84};

template <class T, bool Added, int Packs>
__global__ void __launch_bounds__(kThreadsNarrow, 1024 / kThreadsNarrow)  // 64 registers
    layer_norm_narrow_rows(Args a, int lanes) {
  const int first = int(threadIdx.x) & (lanes - 1);
  const int64_t thread = int64_t(blockIdx.x) * kThreadsNarrow + threadIdx.x;
  const int64_t r = thread >> (__ffs(lanes) - 1);
  // Lanes past the end take part in the shuffles, and neither read nor store.
  hold_row<Added, T, Packs>(a, min(r, a.rows - 1), first, lanes, lanes, r < a.rows,
                            [](const Moments& whole) { return whole; });
}

template <class T, bool Added, int Packs>
__global__ void __launch_bounds__(held::threads_bound(Added ? 2 : 1, Packs))
    layer_norm_row_per_block(Args a) {
  __shared__ float4 partials[kWarpSize];
  hold_row<Added, T, Packs>(
      a, blockIdx.x, int(threadIdx.x), int(blockDim.x), kWarpSize, true,
      [&](const Moments& warp) { return warps_merge(warp, float(a.cols), partials); });
}

static held::Plan plan_for(const Args& a) { return held::plan_for(most_slots(a), tensors(a)); }
static BackwardPlan backward_plan_for(const Args& a, const DeviceInfo& device) {
  return BackwardPlan(most_slots(a), a.rows, a.dtype == Dtype::f32, device);
}

// Whether a pack that is loaded may reach into elements that another lane replaces: packs of two
// bytes per element are loaded as whole words where the result of the call is an input itself, but
// its packs begin elsewhere.
static bool reaches_into_results(const Args& a) {
  if (size_of(a.dtype) != 2 || !(a.backward || a.residual)) return false;
  const void* const out = a.backward ? a.dx : a.y;
  const int64_t stride = a.rows > 1 ? a.backward ? a.dx_stride : a.y_stride : 0;
  const bool is_between_words = reinterpret_cast<uintptr_t>(out) % 4 != 0 || stride % 2 != 0;
  const bool is_in_place = out == a.x || out == a.residual || out == a.dy || out == a.dsum;
  return is_in_place && is_between_words;
}
static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  if (reaches_into_results(a)) return "in place, it takes rows of two-byte elements at 4 bytes";
  const int lanes = a.backward ? backward_plan_for(a, device).lanes : plan_for(a).lanes;
  return lanes > 0 ? kSupported : "the row does not fit the registers of a block";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.backward) {
    const BackwardPlan plan = backward_plan_for(a, device);
    const Partials partials(a, plan.blocks);
    with_backward_packs(a.dtype, plan.packs, [&](auto t, auto packs) {
      layer_norm_backward_held<decltype(t), packs.value>
          <<<unsigned(plan.blocks), unsigned(plan.threads), 0, stream>>>(a, partials, plan.lanes);
    });
    return add_slices(a, partials, stream);
  }
  const held::Plan plan = plan_for(a);
  return with_type_and_residual(a, [&](auto t, auto added) {
    using T = decltype(t);
    held::with_plan<added.value ? 2 : 1>(plan, [&](auto packs, auto narrow) {
      if constexpr (narrow.value) {
        const int64_t blocks = (a.rows * plan.lanes + kThreadsNarrow - 1) / kThreadsNarrow;
        layer_norm_narrow_rows<T, added.value, packs.value>
            <<<unsigned(blocks), kThreadsNarrow, 0, stream>>>(a, plan.lanes);
      } else {
        layer_norm_row_per_block<T, added.value, packs.value>
            <<<unsigned(a.rows), unsigned(plan.lanes), 0, stream>>>(a);
      }
    });
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return a.backward ? Partials(a, backward_plan_for(a, device).blocks).bytes() : 0;
}
static double cost(const Args& a, const DeviceInfo& device) {
  if (a.backward)  // the partial sums are written and read
    return streaming_us(kTunedBackward, bytes(a) + 2 * double(workspace(a, device)), device);
  const int an_sm = plan_for(a).rows_per_sm(tensors(a));
  return held::rows_us(an_sm > 1 ? kTuned : kTunedAlone, bytes(a), a.rows, std::max(an_sm, 1),
                       device);
}
constinit const Rung rung = {.idea = "one read: the row stays in registers",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::layer_norm::row_in_registers
