// gemm rung 17, aligned_copies: matrices that lie askew are copied first, to where packs are whole.
//
// Since 16_large_warp_tiles: a matrix whose rows are not at multiples of 16 bytes is copied to a
//   workspace where its rows are, and the product works on the copy. (Rung 15 reads such a matrix
//   element by element, in every block that needs it.) One more pass over the operands costs little
//   beside a product that reads each element many times.
// Stops at: what rung 16 stops at.
// Not for: products that read their operands only a few times, where the copy is most of the work.
#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/mma_warp_tiles.cuh"

namespace ridge::gemm::aligned_copies {

static Support supports(const Args& a, const DeviceInfo& device) {
  return mma_warp_tiles::supports(AlignedOperands(a).args(), device);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return AlignedOperands(a).bytes(); }
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  const AlignedOperands aligned(args);
  if (const Status s = aligned.copy(stream); !s) return s;
  return mma_warp_tiles::launch(aligned.args(), device, stream);
}
constinit const Rung rung = {
    .idea = "matrices that lie askew are copied first",
    .supports = supports,
    .launch = launch,
    .workspace = workspace,
    .claims = {.global_stores_per_element = 0.125, .barriers = 1, .conflict_free = true}};

}  // namespace ridge::gemm::aligned_copies
