// gemm rung 16, large_warp_tiles: a warp makes 64 by 64 results, so that fragments are used more.
//
// Since 15_mma_sync: shared memory was the limit. For 64 by 32 results and 16 levels, a warp loads
//   3 KiB of fragments for 32768 multiply-adds; for 64 by 64, 4 KiB for twice as many. The sums
//   take half of the registers, so one block of 8 warps, with a tile of 128 by 256, fills an SM,
//   and no other block hides what it waits for. So nothing may wait: fragments of the next 16
//   levels are loaded between the products of these; warps meet at a barrier in two parts, with
//   products between them; and a block goes on from tile to tile without a pause in its copies.
//   Results leave 16 bytes at a time. Tiles that are made together share rows and columns in L2.
// Stops at: mma.sync itself, which on Hopper reaches 54 to 63 % of what wgmma does, and shared
//   memory beside it: of 16 levels, at least 405 cycles and 352 (docs/gemm.md has the arithmetic).
// Not for: matrices whose rows are not at multiples of 16 bytes, products with few tiles of 128 by
//   256, and Hopper GPUs, where the copy engine can reach the matrices.
#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/mma_warp_tiles.cuh"

namespace ridge::gemm::large_warp_tiles {

static Support supports(const Args& a, const DeviceInfo& device) {
  const AlignedOperands aligned(a);
  if (aligned.bytes() > 0) return "a and b must begin and have rows at multiples of 16 bytes";
  return mma_warp_tiles::supports(aligned.args(), device);
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  return mma_warp_tiles::launch(AlignedOperands(args).args(), device, stream);
}
constinit const Rung rung = {
    .idea = "64 by 64 results per warp, no pause between steps",
    .supports = supports,
    .launch = launch,
    .claims = {.global_stores_per_element = 0.125, .barriers = 1, .conflict_free = true}};

}  // namespace ridge::gemm::large_warp_tiles
