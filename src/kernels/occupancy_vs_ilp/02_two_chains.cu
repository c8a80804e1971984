// occupancy_vs_ilp rung 02, two_chains: one warp per scheduler, two chains per thread.
//
// Since 01_one_chain: while one chain waits, the next step of the other is issued. Half as many
//   threads do the work.
// Stops at: latency: the scheduler is idle in two clocks of four.
// Not for: work that is a single chain: it needs more warps.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::two_chains {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "one warp per scheduler, two chains per thread",
    .supports = supports,
    .launch = launch_chains<2, Occupancy::one_warp_a_scheduler>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::two_chains
