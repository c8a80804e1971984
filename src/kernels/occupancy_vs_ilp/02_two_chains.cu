// occupancy_vs_ilp rung 02, two_chains: one warp a scheduler, two chains a thread.
//
// Since 01_one_chain: while one chain waits, the other's next step is issued. Half the threads do
//   the work.
// Stops at: latency, two clocks in four.
// Not for: work that comes in one chain only: then there must be more warps.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::two_chains {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "one warp a scheduler, two chains a thread",
    .supports = supports,
    .launch = launch_chains<2, Occupancy::one_warp_a_scheduler>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::two_chains
