// vote rung 02, predicated: all lanes run one series, each with its own argument.
//
// Since 01_branchy: what differs between the branches is selected before and after the long part,
//   which all lanes execute together. No lane ever waits for the branch of another.
// Stops at: atomics, up to 32 lanes of a warp at the same word.
// Not where the branches have nothing in common: doing both and selecting costs as much as
//   diverging, and more where a warp would have agreed.
#include "kernels/vote/bits.cuh"

namespace ridge::vote::predicated {

__global__ void __launch_bounds__(kThreads) vote_predicated(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.n) return;
  const float x = a.x[i];
  const bool is_first = x >= 0;
  const float sum = series(is_first ? x / 2 : -x / 4, a.steps);
  a.y[i] = is_first ? sum : 1 - sum;
  if (is_first) set_bit(a, i);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::f32 ? kSupported : "takes f32";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  if (const Status s = clear_bits(a, stream); !s) return s;
  vote_predicated<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "one series for all lanes, arguments selected",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::vote::predicated
