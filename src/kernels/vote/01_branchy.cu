// vote rung 01, branchy: each lane takes its branch.
//
// Stops at: divergence. If signs are mixed, a warp runs the first series with some of its lanes and
//   then the second with the others. If all lanes agree, in long runs of one sign, the branch costs
//   next to nothing.
// Not for: branches that neighbouring lanes take at random. If the lanes of a warp agree, it is as
//   good as any.
#include "kernels/vote/bits.cuh"

namespace ridge::vote::branchy {

__global__ void __launch_bounds__(kThreads) vote_branchy(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.n) return;
  const float x = a.x[i];
  if (x >= 0) {
    a.y[i] = series(x / 2, a.steps);
    set_bit(a, i);
  } else {
    a.y[i] = 1 - series(-x / 4, a.steps);
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  if (const Status s = clear_bits(a, stream); !s) return s;
  vote_branchy<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "one branch per sign",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::vote::branchy
