// selective_scan rung 02, state_lanes: the lanes of a warp share the state of a channel.
//
// Since 01_serial: a lane has one number of the state in a register (or up to eight, if the state
//   has more than 32), so exponentials of a step are computed at the same time. Shuffles add up
//   what they contribute to y. A state of up to 16 numbers takes half a warp or less, and the
//   rest of the warp has other channels.
// Stops at: latency: a step is two loads, an exponential and up to five shuffles, and the next
//   one waits for it only in one multiply-add; but the lanes of a load are one row of b apart.
// Not for: long sequences of few channels, whose steps are all done one after the other.
#include "kernels/selective_scan/channel.cuh"

namespace ridge::selective_scan::state_lanes {

constexpr int kThreads = 128;
constexpr int kMostPerLane = kMostState / kWarpSize;

template <class T, int kPerLane>
__global__ void __launch_bounds__(kThreads) selective_scan_state_lanes(Args args, int lanes) {
  const int first = int(threadIdx.x) & (lanes - 1);
  const int64_t at = (int64_t(blockIdx.x) * kThreads + threadIdx.x) / lanes;
  // Past the end, the last channel once more, so that shuffles have all lanes; it is not stored.
  const int64_t channel = min(at, args.channels() - 1);
  const bool stores = at == channel;
  const Channel<T> x(args, channel);
  float h[kPerLane] = {}, a[kPerLane];
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    const int n = first + k * lanes;
    a[k] = n < args.state ? x.a[n] : 0;
  }
  for (int64_t t = 0; t < args.length; ++t) {
    const float s = x.s(t), u = x.of_u(t);
    float v = 0;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
      const int n = first + k * lanes;
      if (n >= args.state) continue;
      h[k] = expf(s * a[k]) * h[k] + s * x.of_b(n, t) * u;
      v += x.of_c(n, t) * h[k];
    }
    v = lanes_sum(v, lanes) + x.d * u;
    if (first == 0 && stores)
      static_cast<T*>(args.y)[channel * args.length + t] = from_float<T>(v * x.gate(t));
  }
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    const int n = first + k * lanes;
    if (args.last_state && stores && n < args.state)
      args.last_state[channel * args.state + n] = h[k];
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.backward ? "goes forward only" : supports_any(a);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  int lanes = 1;
  while (lanes < kWarpSize && lanes < a.state) lanes *= 2;
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const auto kernel = a.state <= kWarpSize ? selective_scan_state_lanes<T, 1>
                                             : selective_scan_state_lanes<T, kMostPerLane>;
    kernel<<<unsigned((a.channels() * lanes + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        a, lanes);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one lane for each number of the state",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::selective_scan::state_lanes
