// rainbow_table rung 02, ilp: several chains per thread, and several rounds per turn of the loop.
//
// Since 01_naive: the operations of different chains are independent, so a warp always has one to
//   issue, and a few warps do what took many. All chains share the instructions of the loop.
// Stops at: integer issue. A round is 4 products, 4 exclusive ors and 3 shifts; in each clock an SM
//   issues 64 lanes of each kind.
// Not for: rounds that already keep the integer units busy: more chains then only take registers.
#include <algorithm>

#include "kernels/rainbow_table/rainbow_table.h"
#include "select/select.h"

namespace ridge::rainbow_table::ilp {

constexpr int kThreads = 256;
constexpr int kChains = 4;  // a thread
constexpr int kRounds = 4;  // a turn of the loop
constexpr double kFixedUs = 2.0;
constexpr double kLaneClocks = 7.5;  // of a 64-lane pipe, for a round
constexpr double kClockHz = 1.75e9;  // that an H200 keeps up

__global__ void __launch_bounds__(kThreads) rainbow_table_ilp(Args a) {
  const int64_t first = int64_t(blockIdx.x) * (kThreads * kChains) + threadIdx.x;
  uint32_t key[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const int64_t i = first + c * kThreads;
    key[c] = i < a.n ? static_cast<const uint32_t*>(a.keys)[i] : 0;
  }
  int round = 0;
  for (; round + kRounds <= a.rounds; round += kRounds)
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
#pragma unroll
      for (int c = 0; c < kChains; ++c) key[c] = hashed(key[c]);
#pragma unroll 1
  for (; round < a.rounds; ++round)
#pragma unroll
    for (int c = 0; c < kChains; ++c) key[c] = hashed(key[c]);
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const int64_t i = first + c * kThreads;
    if (i < a.n) static_cast<uint32_t*>(a.out)[i] = key[c];
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u32 ? kSupported : "keys are u32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  constexpr int64_t kKeys = int64_t(kThreads) * kChains;
  rainbow_table_ilp<<<unsigned((a.n + kKeys - 1) / kKeys), kThreads, 0, stream>>>(a);
  return launch_status();
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double lanes = 64.0 * device.sm_count;
  return kFixedUs + double(a.n) * a.rounds * kLaneClocks / lanes / kClockHz * 1e6;
}
constinit const Rung rung = {
    .idea = "four chains per thread, four rounds per turn of the loop",
    .supports = supports,
    .launch = launch,
    .cost = cost,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::rainbow_table::ilp
