// vector_add_streamed rung 04, n_streams: so many chunks are under way that the way in never waits.
//
// Since 03_two_streams: there are four streams, one for each of the three stages and one to spare.
//   Chunks are smaller, so less time passes before the first result goes out and after the last
//   input came in.
// Stops at: the link: two arrays in, while one goes out.
// Not for: stages of which one takes nearly all the time: two streams then hide the others as well.
#include "kernels/vector_add_streamed/pipeline.cuh"

namespace ridge::vector_add_streamed::n_streams {

constexpr int kStreams = 4;
constexpr int kChunks = 32;
constexpr double kLinkBandwidth = 55e9;  // bytes per second, one way: what PCIe 5 x16 gives
constexpr double kFixedUs = 60;          // streams made and destroyed, the first and last chunk

static Support supports(const Args& a, const DeviceInfo&) { return adds(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return run_pipeline<kStreams, kChunks>(a, stream);
}
static double cost(const Args& a, const DeviceInfo&) {
  return kFixedUs + 2.0 * double(a.n) * sizeof(float) / kLinkBandwidth * 1e6;
}
constinit const Rung rung = {.idea = "four streams: one for each stage, one to spare",
                             .supports = supports,
                             .launch = launch,
                             .workspace = pipeline_workspace<kStreams, kChunks>,
                             .cost = cost,
                             .claims = kAddClaims};

}  // namespace ridge::vector_add_streamed::n_streams
