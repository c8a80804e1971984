// vector_add_streamed rung 02, pinned_async: the same calls on pinned memory.
//
// Since 01_pageable_copy: the code is the same; only the arrays lie elsewhere. The copy engine
//   reads them itself, at the speed of the link, and the host does not wait.
// Stops at: one thing at a time. While data is copied in, the way out is idle, and the other way
//   round.
// Not for: unlimited amounts of memory: the system cannot use pinned memory for anything else.
#include "kernels/vector_add_streamed/pipeline.cuh"

namespace ridge::vector_add_streamed::pinned_async {

static Support supports(const Args& a, const DeviceInfo&) { return adds(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return add_chunk(a, 0, a.n, static_cast<float*>(a.workspace), stream);
}
constinit const Rung rung = {.idea = "pinned memory, which the copy engine reads itself",
                             .supports = supports,
                             .launch = launch,
                             .workspace = whole_workspace,
                             .claims = kAddClaims};

}  // namespace ridge::vector_add_streamed::pinned_async
