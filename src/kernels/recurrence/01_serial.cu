// recurrence rung 01, serial: one thread per chain does its steps one after the other.
//
// Stops at: latency. Each step waits for the one before it, and only as many threads work as
//   there are chains. Where the steps of a chain are neighbours in memory, the lanes of a load
//   are one chain apart, and each brings 32 bytes and uses 4 (or 2) of them.
// Not for: few or long chains. With thousands of neighbouring chains (steps first in memory) it
//   is all that is needed.
#include "kernels/recurrence/chain.cuh"

namespace ridge::recurrence::serial {

constexpr int kThreads = 128;

template <class Chain>
__global__ void __launch_bounds__(kThreads) recurrence_serial(Args args, int64_t rows) {
  const int64_t row = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  const Chain chain(args, row);
  float h = chain.initial();
  for (int64_t s = 0; s < args.length; ++s) {
    h = chain.at(s)(h);
    chain.put(s, h);
  }
  chain.end(h);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.rows() <= INT32_MAX ? kSupported : "counts chains up to 2^31";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_chain(a, [&](auto of) {
    recurrence_serial<typename decltype(of)::type>
        <<<unsigned((a.rows() + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, a.rows());
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one chain, step by step",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::recurrence::serial
