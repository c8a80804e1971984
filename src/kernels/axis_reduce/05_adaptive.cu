// axis_reduce rung 05, adaptive: the shape decides which threads share a result, and all loads are
// packs.
//
// Since 04_column_tiles: each load brings 16 bytes, and four loads are under way, for rows as well
//   as for columns. One lane, a few lanes, a warp or a block takes a row, whichever is just kept
//   busy. If there are few results, several blocks share an axis, and the last of them combines
//   their values. Wide rows that start anywhere are read at their own 16-byte boundaries: all rows
//   of a warp are shifted alike, so its lanes keep their columns. argmax over columns of two bytes
//   carries a value and its step in one word (device/best_of_pairs.cuh).
// Stops at: HBM; for odd strides of few columns, at the single words that a shifted pack is read
//   in.
// Not for: a reduction whose input another kernel has just had in registers. There it takes a few
//   instructions.
#include "kernels/axis_reduce/operators.cuh"
#include "select/select.h"

namespace ridge::axis_reduce::adaptive {

constexpr Tuned kTuned = {3.0, 0.90};

template <class T>
static AxisView<T> view_of(const Args& a) {
  return {static_cast<const T*>(a.x), a.outer, a.axis, a.inner, a.outer_stride, a.axis_stride};
}

static size_t workspace(const Args& a, const DeviceInfo& device) {
  return with_operator(a, [&](auto op, auto t, auto) {
    return reduce_axis_workspace(op, view_of<decltype(t)>(a), device);
  });
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto result) {
    return launch_reduce_axis(op, view_of<decltype(t)>(a), static_cast<decltype(result)*>(a.out),
                              a.out_stride, {a.workspace, a.workspace_bytes}, device, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "packs, and threads as the shape needs them",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::axis_reduce::adaptive
