// vector_add_streamed rung 03, two_streams: while one chunk is copied in, another is copied out.
//
// Since 02_pinned_async: the arrays are cut into chunks, which go in turn to two streams with their
//   own buffers. The copy engines for the two directions and the SMs work at the same time, each on
//   another chunk.
// Stops at: gaps. A chunk has three stages and two chunks are under way, so the way in waits while
//   one chunk is added and the other is copied out.
// Not for: small arrays: every chunk pays for its copies and its launch.
#include "kernels/vector_add_streamed/pipeline.cuh"

namespace ridge::vector_add_streamed::two_streams {

constexpr int kStreams = 2;
constexpr int kChunks = 8;

static Support supports(const Args& a, const DeviceInfo&) { return adds(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return run_pipeline<kStreams, kChunks>(a, stream);
}
constinit const Rung rung = {.idea = "chunks in two streams: both directions at once",
                             .supports = supports,
                             .launch = launch,
                             .workspace = pipeline_workspace<kStreams, kChunks>,
                             .claims = kAddClaims};

}  // namespace ridge::vector_add_streamed::two_streams
