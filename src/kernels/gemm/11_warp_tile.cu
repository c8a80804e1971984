// gemm rung 11, warp_tile: the lanes of a warp make a compact tile of 64 by 32, 8 lanes high and 4
// wide.
//
// Since 10_conflict_free: a warp was 2 lanes high and 16 wide, and needed 16 rows of a and 128
//   columns of b for each k. The compact tile needs 64 and 32: two thirds of the data for as many
//   results. A load of 16 bytes per lane brings 128 or 64 different bytes, and lanes that ask for
//   the same bytes are served together.
// Stops at: waiting. Every step begins with global loads, and nobody multiplies until they arrive;
//   only other blocks of the SM fill the gap.
// Not for: matrices that make few tiles of 128 by 128.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/warp_tile.cuh"

namespace ridge::gemm::warp_tile {

constexpr int kEdge = WarpTile::kEdge, kPitch = WarpTile::kPitch, kThreads = WarpTile::kThreads;
constexpr int kDepth = 8;

__global__ void __launch_bounds__(kThreads, 2) gemm_warp_tile(Args args) {
  __shared__ alignas(16) float tile_a[kDepth][kPitch];  // (k, row)
  __shared__ alignas(16) float tile_b[kDepth][kPitch];  // (k, col)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const Slab a = slab_of_a(args, tile.row);
  const Slab b = slab_of_b(args, tile.col);
  WarpTile mine;
  for (int64_t k = 0; k < args.k; k += kDepth) {
    load_slab<kEdge, kDepth, kPitch, kThreads>(a, k, tile_a[0]);
    load_slab<kEdge, kDepth, kPitch, kThreads>(b, k, tile_b[0]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) mine.add(tile_a[i], tile_b[i]);
    __syncthreads();
  }
  mine.put(Results<float>(args), tile);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_warp_tile<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "a warp makes a compact tile, 64 by 32",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256. / 128 / 4,
                                        .global_stores_per_element = 0.25,
                                        .barriers = 64,
                                        .conflict_free = true}};

}  // namespace ridge::gemm::warp_tile
