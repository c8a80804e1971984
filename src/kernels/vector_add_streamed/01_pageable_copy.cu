// vector_add_streamed rung 01, pageable_copy: copy in, add, copy out, from memory as malloc gives
// it.
//
// Stops at: the driver. The system may move such memory at any time, so the driver first copies it
//   piece by piece into pinned memory of its own, while the host waits.
// Not for: copies that should overlap with anything: the host waits, and so does the stream.
#include "kernels/vector_add_streamed/pipeline.cuh"

namespace ridge::vector_add_streamed::pageable_copy {

static Support supports(const Args& a, const DeviceInfo&) { return adds(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return add_chunk(a, 0, a.n, static_cast<float*>(a.workspace), stream);
}
constinit const Rung rung = {.idea = "copy in, add, copy out, from ordinary memory",
                             .supports = supports,
                             .launch = launch,
                             .workspace = whole_workspace,
                             .claims = kAddClaims,
                             .pageable = true};

}  // namespace ridge::vector_add_streamed::pageable_copy
