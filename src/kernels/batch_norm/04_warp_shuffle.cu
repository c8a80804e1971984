// batch_norm rung 04, warp_shuffle: the lanes of a warp exchange their sums in registers, and the
// warps of a block theirs at one barrier.
//
// Since 03_welford: shuffles replace the tree, one barrier its ten. The means of the lanes
//   differ, so the common mean comes first, and each lane then moves its distances to it: two
//   sums by shuffles, one division.
// Stops at: as many SMs as there are channels: the blocks of 64 channels use half of an H200.
// Not for: few channels, and channels last, whose loads are still one pixel apart. Inference adds
//   nothing up.
#include <algorithm>

#include "kernels/batch_norm/channels.cuh"
#include "select/select.h"

namespace ridge::batch_norm::warp_shuffle {

constexpr int kThreads = 512;
constexpr Tuned kTuned = {5.0, 0.35};  // modelled; to be replaced by a rate measured on an H200

template <class T>
__global__ void __launch_bounds__(kThreads) batch_norm_warp_shuffle(Args a, Divider by_inner) {
  __shared__ float4 partials[kWarpSize];
  const auto moments = [&](const Channel<T>& channel) {
    Moments mine;
    for (int64_t i = threadIdx.x; i < channel.count; i += kThreads) channel.add(int(i), mine);
    return warps_merge(lanes_merge(mine), float(channel.count), partials);
  };
  const auto sums = [&](const Channel<T>& channel) {
    const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    Sums mine;
    for (int64_t i = threadIdx.x; i < channel.count; i += kThreads) channel.add(int(i), mine);
    mine = lanes_merge(mine);
    if (lane == 0) partials[warp] = {mine.dy, mine.product, 0, 0};
    __syncthreads();
    const float4 one = lane < kThreads / kWarpSize ? partials[lane] : float4{};
    return lanes_merge(Sums{one.x, one.y});
  };
  norm_channel<T>(a, by_inner, moments, sums);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.op == Op::infer ? "nothing is added up" : supports_any(a);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    batch_norm_warp_shuffle<decltype(t)>
        <<<unsigned(a.channels), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
// For many short channels, whose elements are neighbours: one launch.
static double cost(const Args& a, const DeviceInfo& device) {
  const double sectors = a.inner >= 8 ? 1 : 32.0 / double(size_of(a.dtype));
  const double blocks = 4.0 * device.sm_count;  // at a time
  const double idle = std::max(blocks / double(a.channels), 1.0);
  return streaming_us(kTuned, sectors * idle * bytes(a, 2), device);
}
constinit const Rung rung = {.idea = "shuffles and one barrier instead of a tree",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1}};

}  // namespace ridge::batch_norm::warp_shuffle
