// rainbow_table rung 01, naive: one thread, one chain.
//
// Stops at: instructions other than the hash: the counter and the branch of the loop, in every
//   round. If there are fewer keys than the GPU has threads, at latency: each operation of a chain
//   waits for the previous one.
// Not for: fewer keys than the GPU has threads.
#include "kernels/rainbow_table/rainbow_table.h"

namespace ridge::rainbow_table::naive {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) rainbow_table_naive(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.n) return;
  uint32_t key = static_cast<const uint32_t*>(a.keys)[i];
#pragma unroll 1
  for (int round = 0; round < a.rounds; ++round) key = hashed(key);
  static_cast<uint32_t*>(a.out)[i] = key;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u32 ? kSupported : "keys are u32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  rainbow_table_naive<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {
    .idea = "one thread, one chain",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::rainbow_table::naive
