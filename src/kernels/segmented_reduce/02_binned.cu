// segmented_reduce rung 02, binned: a thread, some lanes, a warp, a block or many blocks a segment.
//
// Since 01_block_per_segment: the mean length says who takes a segment to begin with, so that short
//   ones no longer idle a block; those too long for them climb to their warp and their block, and
//   the longest are cut into chunks with a block each. 16 bytes a lane and load, four under way.
// Stops at: HBM; where segments have about one element, at the offsets and results that move with
//   it.
// Not for: segments of one fixed length: those are rows, and need no offsets (axis_reduce).
#include "kernels/segmented_reduce/operators.cuh"
#include "select/select.h"

namespace ridge::segmented_reduce::binned {

constexpr Tuned kTuned = {4.0, 0.90};

static size_t workspace(const Args& a, const DeviceInfo& device) {
  return with_operator(
      a, [&](auto op, auto v, auto*) { return reduce_segments_workspace(op, v, device); });
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto v, auto* out) {
    return launch_reduce_segments(op, v, out, {a.workspace, a.workspace_bytes}, device, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "as many threads as a segment's length needs",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::segmented_reduce::binned
