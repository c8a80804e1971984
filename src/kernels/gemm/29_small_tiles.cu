// gemm rung 29, small_tiles: f32 tiles of 64 by 64, from operands as they lie.
//
// Since 18_autotuned: where matrices are small, turned copies of them take as long as the products.
//   Here threads bring each slab, by cp.async or turned through registers, as in 12_cp_async. Six
//   blocks of two warps fit on an SM: while some of them begin or end, the others multiply. The
//   loop over levels is that of rung 18. It has two levels only: in it, ptxas keeps the order of
//   the multiply-adds, in which their operands come from different register banks (simt_tile.cuh).
// Stops at: shared memory. A small tile loads more factors for each product than a large one.
// Not for: large matrices (18 and 19 on Hopper, 12 on other GPUs).
#include "kernels/gemm/small_tile.cuh"

namespace ridge::gemm::small_tiles {

using namespace small_tile;

template <class CopyA, class CopyB>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_small_tiles(const __grid_constant__ Args args, const __grid_constant__ Division division) {
  __shared__ alignas(16) float shared[2 * kStep];
  const Unit unit = unit_of_tile<S>(args, division, blockIdx.x);
  Sums<S> sums;
  sum_products<CopyA, CopyB>(args, unit, shared, sums);
  put_unit(args, division, unit, sums, shared);
}

static double cost(const Args& args, const DeviceInfo& device) {
  const Division division = whole_tiles<S>(args);
  return 2.0 + turns_us(pace(args), division.whole, division.steps, device);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = only_f32(a); !s) return s;
  return has_grid<S>(a);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const Division division = whole_tiles<S>(args);
  return with_copies(args, [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
    gemm_small_tiles<A, B><<<unsigned(division.whole), S::kThreads, 0, stream>>>(args, division);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "small tiles; multiply-adds in the order of the banks",
    .supports = supports,
    .launch = launch,
    .cost = cost,
    .claims = {.global_stores_per_element = 0.25, .barriers = 16, .conflict_free = true}};

}  // namespace ridge::gemm::small_tiles
