// policy_losses rung 02, in_logs: the same, with differences of logarithms.
//
// Since 01_published: exp(logp - other) in place of exp(logp) / exp(other), so that unlikely
//   actions have a ratio; log sigmoid(h) = min(h, 0) - log(1 + exp(-|h|)), where no exponential is
//   above 1; and expm1, so that policies that hardly differ have a distance.
// Stops at: atomics, up to four for each element, on the same four addresses.
// Not for: anything that must come out the same twice: the order of its sums changes.
#include "kernels/policy_losses/atomics.cuh"

namespace ridge::policy_losses::in_logs {

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return atomics::launch<InLogs>(a, stream);
}
constinit const Rung rung = {.idea = "differences of logarithms: nothing under- or overflows",
                             .supports = supports_any,
                             .launch = launch,
                             .workspace = atomics::workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::policy_losses::in_logs
