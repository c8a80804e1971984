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
#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/slab_copy.cuh"
#include "kernels/gemm/tile_cost.cuh"
#include "kernels/gemm/warp_tile.cuh"

namespace ridge::gemm::cp_async {

constexpr int kEdge = WarpTile::kEdge, kPitch = WarpTile::kPitch, kThreads = WarpTile::kThreads;
constexpr int kDepth = 16;

using AlongX = CopyAlongX<kEdge, kDepth, kPitch, kThreads>;
using AlongK = CopyAlongK<kEdge, kDepth, kPitch, kThreads>;

template <class CopyA, class CopyB, bool kAsked>
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
  if constexpr (kAsked) mine.put_asked(args, tile);
  else mine.put(Results<float>(args), tile);
}

static Support supports(const Args& a, const DeviceInfo&) { return f32_with_epilogue(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  const bool b_along_x = b_is_along_x(args);
  return with_asked(args, stream, [&](auto asked) {
    constexpr bool kAsked = asked.value;
    const auto along_x = [](bool b) {
      return b ? gemm_cp_async<AlongX, AlongX, kAsked> : gemm_cp_async<AlongX, AlongK, kAsked>;
    };
    const auto along_k = [](bool b) {
      return b ? gemm_cp_async<AlongK, AlongX, kAsked> : gemm_cp_async<AlongK, AlongK, kAsked>;
    };
    const auto kernel = a_is_along_x(args) ? along_x(b_along_x) : along_k(b_along_x);
    return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
      kernel<<<grid, kThreads, 0, stream>>>(part);
    });
  });
}

// On an H200, 2026-11-18.
constexpr ByTransposition kStepUs = {
    .x_x = 2.68, .x_depth = 2.86, .depth_x = 2.86, .depth_depth = 3.3};
constexpr double kAskew = 1.14;  // times as long, where 16 bytes at once are not possible

static double cost(const Args& args, const DeviceInfo& device) {
  const double step = kStepUs.of(args) * (AlignedOperands(args).bytes() > 0 ? kAskew : 1);
  const TilePace pace = {.per_sm = 2, .few = 1, .step = step, .few_step = 0.58 * step, .tile = 5.2};
  const int64_t tiles = args.batch * tiles_of(args.m, kEdge) * tiles_of(args.n, kEdge);
  return 2.0 + turns_us(pace, tiles, tiles_of(args.k, kDepth), device);
}
constinit const Rung rung = {
    .idea = "copies of the next step behind this one's products",
    .supports = supports,
    .launch = launch,
    .cost = cost,
    .claims = {.global_stores_per_element = 0.25, .barriers = 16, .conflict_free = true}};

}  // namespace ridge::gemm::cp_async
