// match_redux rung 01, loop: all lanes compare their key with that of every lane, one lane after
// the other.
//
// Stops at: shuffles: 32 for the counts and 5 for the largest count.
// Not for: any GPU that has match and redux (02).
#include "kernels/match_redux/match_redux.h"

namespace ridge::match_redux::loop {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) match_redux_loop(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const bool is_here = i < a.n;
  const uint32_t key = is_here ? a.keys[i] : 0;
  const unsigned here = __ballot_sync(~0u, is_here);
  uint32_t count = 0;
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane)
    count += __shfl_sync(~0u, key, lane) == key && (here >> lane & 1);
  uint32_t most = is_here ? count : 0;
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2)
    most = max(most, __shfl_xor_sync(~0u, most, half));
  if (!is_here) return;
  a.counts[i] = count;
  if (i % kLanes == 0) a.most[i / kLanes] = most;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u32 ? kSupported : "keys are u32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  match_redux_loop<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "32 shuffles and comparisons",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::match_redux::loop
