// vote rung 01, branchy: each lane takes its branch, and sets its bit by an atomic.
//
// Stops at: divergence. Where signs are mixed, a warp runs A with half its lanes, then B with the
//   other half; and 32 lanes take turns at one word.
#include "kernels/vote/vote.h"

namespace ridge::vote::branchy {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) vote_branchy(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.n) return;
  const float x = a.x[i];
  float y;
  if (x >= 0) {
    y = polynomial<float, true>(x);
    atomicOr(&a.took_a[i / kLanes], 1u << (i % kLanes));
  } else {
    y = polynomial<float, false>(x);
  }
  a.y[i] = y;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  if (const cudaError_t error =
          cudaMemsetAsync(a.took_a, 0, size_t(masks(a.n)) * sizeof(uint32_t), stream);
      error != cudaSuccess)
    return Error{int(error), std::string("clearing the bits: ") + cudaGetErrorString(error)};
  vote_branchy<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.name = "branchy",
                             .idea = "a branch for each lane, an atomic for its bit",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::vote::branchy
