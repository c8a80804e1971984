// match_redux rung 02, match: one instruction finds the lanes with the same key, and one the
// largest count.
//
// Since 01_loop: match.any gives each lane the mask of the lanes with its key, whose bits are
//   counted; redux takes the maximum of all lanes.
// Stops at: match, which the hardware executes key by key: 32 different keys take longest.
// Not for: keys of which only two or three are possible: one ballot per key is cheaper than a
//   match.
#include "kernels/match_redux/match_redux.h"

namespace ridge::match_redux::match {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) match_redux_match(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const bool is_here = i < a.n;
  const uint32_t key = is_here ? a.keys[i] : 0;
  const unsigned here = __ballot_sync(~0u, is_here);
  if (!is_here) return;
  const uint32_t count = uint32_t(__popc(__match_any_sync(here, key)));
  const uint32_t most = __reduce_max_sync(here, count);
  a.counts[i] = count;
  if (i % kLanes == 0) a.most[i / kLanes] = most;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u32 ? kSupported : "keys are u32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  match_redux_match<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "match and redux: two instructions",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::match_redux::match
