// occupancy_vs_ilp rung 04, eight_chains: one warp per scheduler, eight chains per thread.
//
// Since 03_four_chains: there are more chains than needed. If four were not quite enough, this
//   shows it; if they were, nothing is gained, and registers are spent.
// Stops at: the multipliers.
// Not for: arithmetic whose latency four chains cover: more chains only cost registers. Loads,
//   which take a hundred times as long, are another matter.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::eight_chains {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "one warp per scheduler, eight chains per thread",
    .supports = supports,
    .launch = launch_chains<8, Occupancy::one_warp_a_scheduler>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::eight_chains
