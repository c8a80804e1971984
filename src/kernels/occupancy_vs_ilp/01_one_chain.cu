// occupancy_vs_ilp rung 01, one_chain: one warp per scheduler, one chain per thread.
//
// Stops at: latency. A multiply-add takes four clocks, and until it is done the warp has nothing to
//   issue: the scheduler is idle in three clocks of four.
// Not for: anything: it is what the others are measured against.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::one_chain {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "one warp per scheduler, one chain per thread",
    .supports = supports,
    .launch = launch_chains<1, Occupancy::one_warp_a_scheduler>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::one_chain
