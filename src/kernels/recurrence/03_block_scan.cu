// recurrence rung 03, block_scan: one block per chain, 1024 steps at a time.
//
// Since 02_warp_scan: a lane has four steps of each of its loads under way, and eight warps work
//   on a chain. Their steps are combined at one barrier.
// Stops at: the number of chains: one block each. A tile waits for the one before it only for h,
//   but its loads come after that tile's results.
// Not for: few long chains, which leave most SMs idle, and chains of less than a tile.
#include "kernels/recurrence/tile.cuh"
#include "select/select.h"

namespace ridge::recurrence::block_scan {

constexpr Tuned kTuned = {4.0, 0.60};  // modelled; to be replaced by a rate measured on an H200

template <class Chain>
__global__ void __launch_bounds__(kTileThreads) recurrence_block_scan(Args args) {
  __shared__ Step shared[2][kTileWarps];
  const Chain chain(args, blockIdx.x);
  const float h = walk_tiles(chain, 0, args.length, chain.initial(), shared);
  if (threadIdx.x == 0) chain.end(h);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.inner > 1) return "wants the steps of a chain to be neighbours";
  return a.rows() <= INT32_MAX ? kSupported : "counts chains up to 2^31";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_chain(a, [&](auto of) {
    recurrence_block_scan<typename decltype(of)::type>
        <<<unsigned(a.rows()), kTileThreads, 0, stream>>>(a);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double blocks = double(device.sm_count) * (device.threads_per_sm / kTileThreads);
  const double idle = std::max(blocks / double(a.rows()), 1.0);
  const double short_rows = std::max(double(kTile) / double(std::max<int64_t>(a.length, 1)), 1.0);
  return streaming_us(kTuned, bytes(a) * idle * std::min(short_rows, 8.0), device);
}
constinit const Rung rung = {.idea = "one block, one chain, 1024 steps at a time",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::recurrence::block_scan
