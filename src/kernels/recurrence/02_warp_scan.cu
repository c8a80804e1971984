// recurrence rung 02, warp_scan: one warp per chain; its lanes take 32 neighbouring steps and
// combine them in five shuffles.
//
// Since 01_serial: two steps in a row are a step again (a1 a2, a2 b1 + b2), so steps can be
//   combined in any grouping, and 32 of them take five rounds instead of 32. The lanes of a load
//   are neighbours.
// Stops at: latency. A warp has one load of each tensor under way, then ten shuffles that wait
//   for one another; a long chain has only one warp.
// Not for: chains whose steps are not neighbours in memory: there a thread per chain reads as
//   well.
#include "kernels/recurrence/chain.cuh"

namespace ridge::recurrence::warp_scan {

constexpr int kWarps = 4;

template <class Chain>
__global__ void __launch_bounds__(kWarps* kWarpSize) recurrence_warp_scan(Args args, int64_t rows) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (row >= rows) return;  // the whole warp
  const Chain chain(args, row);
  float h = chain.initial();
  for (int64_t first = 0; first < args.length; first += kWarpSize) {
    const int64_t s = first + lane;
    Step mine;
    if (s < args.length) mine = chain.at(s);
    steps::combine_lanes(mine);
    const float value = mine(h);
    if (s < args.length) chain.put(s, value);
    h = __shfl_sync(kAllLanes, value, kWarpSize - 1);  // steps past the end change nothing
  }
  if (lane == 0) chain.end(h);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.inner > 1) return "wants the steps of a chain to be neighbours";
  return a.rows() <= INT32_MAX ? kSupported : "counts chains up to 2^31";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_chain(a, [&](auto of) {
    recurrence_warp_scan<typename decltype(of)::type>
        <<<unsigned((a.rows() + kWarps - 1) / kWarps), kWarps * kWarpSize, 0, stream>>>(a,
                                                                                        a.rows());
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "pairs are associative: 32 steps in five shuffles",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::recurrence::warp_scan
