// occupancy_vs_ilp rung 05, many_warps: one chain a thread, as many warps as the SM holds.
//
// Since 04_eight_chains: the other way to the same end. Sixteen warps a scheduler are as good as
//   sixteen chains, and the code stays simple; but they need threads enough, and registers for all
//   of them. A kernel that must keep much in registers has few warps, and needs chains.
// Stops at: the multipliers.
// Not for: kernels that keep much in registers or in shared memory: there is no room for so
//   many warps.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::many_warps {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "all the warps there is room for, one chain a thread",
    .supports = supports,
    .launch = launch_chains<1, Occupancy::full>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::many_warps
