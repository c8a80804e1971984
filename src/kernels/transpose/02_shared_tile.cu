// transpose rung 02, shared_tile: a tile turns in shared memory, so that both reads and writes go
// along rows.
//
// Since 01_naive: a warp writes 32 neighbours of an output row, which are whole sectors.
// Stops at: shared memory. The 32 numbers of a column of the tile are 32 words apart, all in the
//   same bank, so reading them takes 32 turns (f32; 16 turns for two-byte elements, 8 for bytes).
// Not for: tiles whose rows are a multiple of 32 words, without padding (03) or a swizzle (04).
#include "kernels/transpose/tiles.cuh"

namespace ridge::transpose::shared_tile {

struct Layout {
  static constexpr int kElements = kTile * kTile;
  __device__ static int at(int row, int col) { return row * kTile + col; }
};

template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows) transpose_shared_tile(Args a, Tiling tiling) {
  transpose_tile<T, Layout>(a, tiling);
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(
      a.dtype, [&](auto t) { return launch_tiles(a, transpose_shared_tile<decltype(t)>, stream); });
}
constinit const Rung rung = {
    .idea = "a tile in shared memory; both sides along rows",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 1}};

}  // namespace ridge::transpose::shared_tile
