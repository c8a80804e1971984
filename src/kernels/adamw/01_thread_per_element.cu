// adamw rung 01, thread_per_element: the whole step in one kernel, one launch per tensor.
//
// Stops at: bytes in flight: each load brings 4 bytes per lane. With small tensors, at the
//   launches.
// Not for: a model: it takes one launch per tensor and has a quarter of the bytes under way.
#include "kernels/adamw/adamw.h"
#include "kernels/adamw/update.cuh"

namespace ridge::adamw::thread_per_element {

template <class T>
__global__ void __launch_bounds__(kThreads) adamw_thread_per_element(Part part, Step step) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < part.n) update_one<T>(part, i, step);
}

static Support supports(const Args& a, const DeviceInfo&) { return supported(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Step step(a);
  return with_weight_type(a.dtype, [&](auto t) {
    for (const Part& part : a.parts) {
      if (part.n == 0) continue;
      adamw_thread_per_element<decltype(t)>
          <<<unsigned((part.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(part, step);
      if (const Status s = launch_status(); !s) return s;
    }
    return Status::ok();
  });
}
constinit const Rung rung = {.idea = "the step fused into one kernel per tensor",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 4, .barriers = 0}};

}  // namespace ridge::adamw::thread_per_element
