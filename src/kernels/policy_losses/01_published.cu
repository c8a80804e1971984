// policy_losses rung 01, published: the formulas as they are published, with probabilities.
//
// Stops at: atomics, up to four for each element, on the same four addresses. And at the numbers:
//   exp of a log-probability under -104 is 0 in f32, and the ratio of two such is NaN.
// Not for: anything but reading: it is wrong for unlikely actions, and the order of its sums
//   changes from run to run.
#include "kernels/policy_losses/atomics.cuh"

namespace ridge::policy_losses::published {

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return atomics::launch<Published>(a, stream);
}
constinit const Rung rung = {.idea = "probabilities and their ratios; atomics",
                             .supports = supports_any,
                             .launch = launch,
                             .workspace = atomics::workspace,
                             .claims = {.conflict_free = true},
                             .fails_on = "unlikely"};

}  // namespace ridge::policy_losses::published
