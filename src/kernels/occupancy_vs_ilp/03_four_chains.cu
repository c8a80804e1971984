// occupancy_vs_ilp rung 03, four_chains: one warp per scheduler, four chains per thread.
//
// Since 02_two_chains: four steps cover four clocks of latency.
// Stops at: the multipliers, if the latency is four clocks as documented; and the instructions of
//   the loop.
// Not for: kernels that are short of registers: every chain needs its own.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::four_chains {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "one warp per scheduler, four chains per thread",
    .supports = supports,
    .launch = launch_chains<4, Occupancy::one_warp_a_scheduler>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::four_chains
