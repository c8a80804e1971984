// vote rung 02, predicated: every lane evaluates one polynomial, whose coefficients it selects.
//
// Since 01_branchy: no branch, so no divergence: a select a step instead of a second polynomial.
//   One ballot gathers the 32 bits, and one lane stores them.
// Stops at: selects, which it pays for even where all lanes agree.
#include "kernels/vote/vote.h"

namespace ridge::vote::predicated {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) vote_predicated(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const bool is_here = i < a.n;
  const float x = is_here ? a.x[i] : 0.0f;
  const bool is_a = x >= 0;
  const unsigned bits = __ballot_sync(~0u, is_here && is_a);
  if (!is_here) return;
  if (i % kLanes == 0) a.took_a[i / kLanes] = bits;
  float y = is_a ? coefficient<float>(true, kDegree) : coefficient<float>(false, kDegree);
#pragma unroll
  for (int k = kDegree - 1; k >= 0; --k)
    y = y * x + (is_a ? coefficient<float>(true, k) : coefficient<float>(false, k));
  a.y[i] = y;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  vote_predicated<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.name = "predicated",
                             .idea = "one polynomial of selected coefficients; a ballot",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::vote::predicated
