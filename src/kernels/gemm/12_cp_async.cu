// gemm rung 12, cp_async: while a step is multiplied, the copies of the next one are under way.
//
// Since 11_warp_tile: shared memory has room for two steps, and one of them is filled while the
//   other one is multiplied. A slab whose rows are neighbours in memory is copied by cp.async,
//   which passes through no register; one that must be turned is loaded to registers before the
//   products and stored after them. One barrier per step is enough: it says that the copies have
//   arrived and that the other buffer is free again. Steps are 16 deep. Threads keep the places of
//   their elements, and there is one kernel for each transposition.
// Stops at: the multiply units' operands: registers of one bank cannot be read in the same clock,
//   and the compiler's order of multiply-adds does not always avoid that.
// Not for: matrices that make few tiles of 128 by 128.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/slab_copy.cuh"
#include "kernels/gemm/warp_tile.cuh"

namespace ridge::gemm::cp_async {

constexpr int kEdge = WarpTile::kEdge, kPitch = WarpTile::kPitch, kThreads = WarpTile::kThreads;
constexpr int kDepth = 16;

using AlongX = CopyAlongX<kEdge, kDepth, kPitch, kThreads>;
using AlongK = CopyAlongK<kEdge, kDepth, kPitch, kThreads>;

template <class CopyA, class CopyB>
__global__ void __launch_bounds__(kThreads, 2) gemm_cp_async(Args args) {
  __shared__ alignas(16) float tile_a[2][kDepth][kPitch];  // (k, row)
  __shared__ alignas(16) float tile_b[2][kDepth][kPitch];  // (k, col)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  CopyA a(slab_of_a(args, tile.row));
  CopyB b(slab_of_b(args, tile.col));
  const auto ask = [&](int64_t k, int buffer) {
    a.ask(k, tile_a[buffer][0]);
    b.ask(k, tile_b[buffer][0]);
    ptx::commit_async_copies();
  };
  const auto put = [&](int buffer) {
    a.put(tile_a[buffer][0]);
    b.put(tile_b[buffer][0]);
  };
  WarpTile mine;
  if (args.k > 0) {
    ask(0, 0);
    put(0);
  }
  int buffer = 0;
  for (int64_t k = 0; k < args.k; k += kDepth, buffer ^= 1) {
    ptx::wait_for_async_copies<0>();
    __syncthreads();  // all copies of this step are there, and the other buffer has been read
    const bool goes_on = k + kDepth < args.k;
    if (goes_on) ask(k + kDepth, buffer ^ 1);
#pragma unroll
    for (int i = 0; i < kDepth; ++i) mine.add(tile_a[buffer][i], tile_b[buffer][i]);
    if (goes_on) put(buffer ^ 1);
  }
  mine.put(Results<float>(args), tile);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  // Where neither step is 1, the matrix has one row or one column.
  const auto is_along_x = [](int64_t x_step, int64_t k_step, int64_t xs) {
    return k_step != 1 && (x_step == 1 || xs == 1);
  };
  const bool a_along_x = is_along_x(args.a.row_step, args.a.col_step, args.m);
  const bool b_along_x = is_along_x(args.b.col_step, args.b.row_step, args.n);
  const auto along_x = [](bool b) {
    return b ? gemm_cp_async<AlongX, AlongX> : gemm_cp_async<AlongX, AlongK>;
  };
  const auto along_k = [](bool b) {
    return b ? gemm_cp_async<AlongK, AlongX> : gemm_cp_async<AlongK, AlongK>;
  };
  const auto kernel = a_along_x ? along_x(b_along_x) : along_k(b_along_x);
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    kernel<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {
    .idea = "copies of the next step behind this one's products",
    .supports = supports,
    .launch = launch,
    .claims = {.global_stores_per_element = 0.25, .barriers = 16, .conflict_free = true}};

}  // namespace ridge::gemm::cp_async
