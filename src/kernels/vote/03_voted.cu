// vote rung 03, voted: the warp asks itself whether it agrees.
//
// Since 02_predicated: where all lanes are of one mind, which the ballot shows, only that
// polynomial
//   runs, with its coefficients as constants; else they are selected. The branch is the same for
//   all lanes, so nothing diverges.
// Stops at: mixed signs, where it does what 02 did. Sorting the work by kind would go further.
// Not worth it where both sides are a few instructions: the vote itself is one, and waits.
#include "kernels/vote/vote.h"

namespace ridge::vote::voted {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) vote_voted(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const bool is_here = i < a.n;
  const float x = is_here ? a.x[i] : 0.0f;
  const bool is_a = x >= 0;
  const unsigned here = __ballot_sync(~0u, is_here), bits = __ballot_sync(~0u, is_here && is_a);
  if (!is_here) return;
  if (i % kLanes == 0) a.took_a[i / kLanes] = bits;
  float y;
  if (bits == here) {  // all
    y = polynomial<float, true>(x);
  } else if (bits == 0) {  // not any
    y = polynomial<float, false>(x);
  } else {
    y = is_a ? coefficient<float>(true, kDegree) : coefficient<float>(false, kDegree);
#pragma unroll
    for (int k = kDegree - 1; k >= 0; --k)
      y = y * x + (is_a ? coefficient<float>(true, k) : coefficient<float>(false, k));
  }
  a.y[i] = y;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  vote_voted<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.name = "voted",
                             .idea = "selects only where the warp does not agree",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::vote::voted
