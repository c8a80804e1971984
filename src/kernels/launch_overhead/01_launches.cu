// launch_overhead rung 01, launches: one kernel per step.
//
// Stops at: the launch. The host takes about two microseconds to hand over a kernel, and the device
//   about as long from the end of a kernel to the start of the next; the step itself takes less.
// Not for: steps that take less time than a launch: put them in a graph (02) or in one kernel (03).
#include "kernels/launch_overhead/step.cuh"

namespace ridge::launch_overhead::launches {

static Support supports(const Args& a, const DeviceInfo&) { return counts(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return launch_steps(a, a.steps, stream);
}
constinit const Rung rung = {.idea = "one launch per step",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::launch_overhead::launches
