// launch_overhead rung 03, one_launch: the loop moves into the kernel.
//
// Since 02_graph: nothing is started between steps. A step waits only for memory: it reads the
//   counters that the previous step wrote.
// Stops at: the latency of a load and a store. In registers the counters would cost nothing at all.
// Not for: steps that need the results of all blocks of the previous step: that takes a barrier of
//   the whole grid.
#include "kernels/launch_overhead/step.cuh"

namespace ridge::launch_overhead::one_launch {

__global__ void __launch_bounds__(kCounters) all_steps(uint32_t* counters, int64_t steps) {
#pragma unroll 1
  for (int64_t s = 0; s < steps; ++s) count_up(counters);
}

static Support supports(const Args& a, const DeviceInfo&) { return counts(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.steps == 0) return Status::ok();
  all_steps<<<1, kCounters, 0, stream>>>(a.counters, a.steps);
  return launch_status();
}
constinit const Rung rung = {.idea = "one launch, the loop inside",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::launch_overhead::one_launch
