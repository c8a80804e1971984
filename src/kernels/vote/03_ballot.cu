// vote rung 03, ballot: the warp's bits in one instruction.
//
// Since 02_predicated: a ballot gives every lane the bits of all lanes, and one lane stores the
//   word: there are no atomics, and nothing has to be cleared before. `any` and `all` are the same
//   vote with a shorter answer.
// Stops at: multiply-adds; on shorter series, HBM.
// Not for: numbers: a vote has one bit per lane. For sums and maxima of integers there is redux.
#include "kernels/vote/bits.cuh"

namespace ridge::vote::ballot {

__global__ void __launch_bounds__(kThreads) vote_ballot(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const bool is_here = i < a.n;
  const float x = is_here ? a.x[i] : -1.0f;  // the last warp's other lanes vote too
  const bool is_first = x >= 0;
  const unsigned bits = __ballot_sync(~0u, is_first);
  if (!is_here) return;
  const float sum = series(is_first ? x / 2 : -x / 4, a.steps);
  a.y[i] = is_first ? sum : 1 - sum;
  if (i % kLanes == 0) a.first[i / kLanes] = bits;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  vote_ballot<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "32 bits by one ballot, no atomics",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::vote::ballot
