// occupancy_vs_ilp rung 05, many_warps: one chain per thread, and as many warps as the SM holds.
//
// Since 04_eight_chains: this is the other way to the same end. Sixteen warps per scheduler are as
//   good as sixteen chains, and the code stays simple; but there must be enough threads, and
//   registers for all of them. A kernel that keeps much in registers has few warps, and needs
//   chains.
// Stops at: the multipliers.
// Not for: kernels that keep much in registers or in shared memory: there is no room for so many
//   warps.
#include "kernels/occupancy_vs_ilp/chains.cuh"

namespace ridge::occupancy_vs_ilp::many_warps {

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
constinit const Rung rung = {
    .idea = "as many warps as there is room for, one chain per thread",
    .supports = supports,
    .launch = launch_chains<1, Occupancy::full>,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::occupancy_vs_ilp::many_warps
