// segmented_reduce rung 02, binned: a thread, some lanes, a warp, a block or many blocks work on a
// segment.
//
// Since 01_block_per_segment: the mean length decides how many threads take a segment at first, so
//   that short segments no longer keep a whole block. Segments that are too long for these threads
//   go to their warp or their block, and the longest are cut into chunks with one block per chunk.
//   Each load brings 16 bytes, and four are under way.
// Stops at: HBM; if segments have about one element, at the offsets and results that move with it.
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
