// selective_scan rung 01, serial: one thread per channel does its steps one after the other, with
// all numbers of the state in each.
//
// Stops at: latency, and local memory: the state is an array with a variable index, which cannot
//   stay in registers. Backward, what each channel adds to db and dc lies in the workspace, 8 bytes
//   for each number of the state and element of u.
// Not for: more than a few short sequences.
#include "kernels/selective_scan/gradients.cuh"

namespace ridge::selective_scan::serial {

constexpr int kThreads = 64;

template <class T>
__global__ void __launch_bounds__(kThreads) selective_scan_serial(Args args) {
  const int64_t channel = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (channel >= args.channels()) return;
  const Channel<T> x(args, channel);
  float h[kMostState] = {};
  for (int64_t t = 0; t < args.length; ++t) {
    const float s = x.s(t), u = x.of_u(t);
    float v = x.d * u;
    for (int n = 0; n < args.state; ++n) {
      h[n] = expf(s * x.a[n]) * h[n] + s * x.of_b(n, t) * u;
      v += x.of_c(n, t) * h[n];
    }
    static_cast<T*>(args.y)[channel * args.length + t] = from_float<T>(v * x.gate(t));
  }
  for (int n = 0; args.last_state && n < args.state; ++n)
    args.last_state[channel * args.state + n] = h[n];
}

// In the rest of the workspace: parts of db, then of dc (batch, dim, state, length).
template <class T>
__global__ void __launch_bounds__(kThreads)
    selective_scan_backward_serial(Args args, Memory memory) {
  const int64_t channel = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (channel >= args.channels()) return;
  const Channel<T> x(args, channel);
  const int64_t one = args.state * args.length;  // of a channel
  // h is kept where its part of dc will be.
  float* const of_db = memory.rest + channel * one;
  float* const of_dc = of_db + args.channels() * one;
  for (int n = 0; n < args.state; ++n) {
    float h = 0;
    for (int64_t t = 0; t < args.length; ++t) {
      h = expf(x.s(t) * x.a[n]) * h + x.s(t) * x.of_b(n, t) * x.of_u(t);
      of_dc[n * args.length + t] = h;
    }
  }
  float g[kMostState] = {}, da[kMostState] = {}, dd = 0, ddelta_bias = 0;
  for (int64_t t = args.length; t-- > 0;) {
    const int64_t at = channel * args.length + t;
    const float s = x.s(t), u = x.of_u(t), dy = to_float(x.dy[t]), dv = dy * x.gate(t);
    const float next = t + 1 < args.length ? x.s(t + 1) : 0;
    float v = x.d * u, du = 0, ds = 0;
    for (int n = 0; n < args.state; ++n) {
      const float b = x.of_b(n, t), c = x.of_c(n, t), factor = expf(s * x.a[n]);
      const float h = of_dc[n * args.length + t];
      const float before = t > 0 ? of_dc[n * args.length + t - 1] : 0;
      g[n] = c * dv + (t + 1 < args.length ? expf(next * x.a[n]) * g[n] : 0);
      v += c * h;
      du += g[n] * b;
      ds += g[n] * (x.a[n] * factor * before + b * u);
      da[n] += g[n] * s * factor * before;
      of_db[n * args.length + t] = g[n] * s * u;
      of_dc[n * args.length + t] = dv * h;
    }
    const float ddelta = ds * x.slope(t);
    dd += dv * u;
    ddelta_bias += ddelta;
    static_cast<T*>(args.du)[at] = from_float<T>(s * du + x.d * dv);
    static_cast<T*>(args.ddelta)[at] = from_float<T>(ddelta);
    if (args.dz) static_cast<T*>(args.dz)[at] = from_float<T>(dy * v * x.gate_slope(t));
  }
  for (int n = 0; n < args.state; ++n) memory.da[channel * args.state + n] = da[n];
  memory.dd[channel] = dd;
  memory.ddelta_bias[channel] = ddelta_bias;
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    const auto blocks = unsigned((a.channels() + kThreads - 1) / kThreads);
    if (!a.backward) {
      selective_scan_serial<T><<<blocks, kThreads, 0, stream>>>(a);
      return launch_status();
    }
    const Memory memory(a);
    if (blocks > 0) selective_scan_backward_serial<T><<<blocks, kThreads, 0, stream>>>(a, memory);
    const int64_t parts = a.channels() * a.state * a.length;
    const Status s = launch_add_parts<T>(a, memory.rest, memory.rest + parts, a.dim, stream);
    return s ? launch_add_samples(a, stream) : s;
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return a.backward ? Memory::bytes(a, 2 * a.channels() * a.state * a.length) : 0;
}
constinit const Rung rung = {.idea = "one thread, one channel, step by step",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 0}};

}  // namespace ridge::selective_scan::serial
