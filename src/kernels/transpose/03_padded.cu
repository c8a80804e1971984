// transpose rung 03, padded: the tile has one more column, which nobody uses.
//
// Since 02_shared_tile: each row of the tile starts one bank further than the previous one, so a
//   column lies in 32 different banks and is read in one turn.
// Stops at: bytes in flight: each load brings 4 (2, 1) bytes per lane, with four loads before the
//   barrier.
// Not for: accesses of 16 bytes: the padding moves rows off their boundaries (04).
#include "kernels/transpose/tiles.cuh"

namespace ridge::transpose::padded {

struct Layout {
  static constexpr int kPitch = kTile + 1;
  static constexpr int kElements = kTile * kPitch;
  __device__ static int at(int row, int col) { return row * kPitch + col; }
};

template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows) transpose_padded(Args a, Tiling tiling) {
  transpose_tile<T, Layout>(a, tiling);
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(
      a.dtype, [&](auto t) { return launch_tiles(a, transpose_padded<decltype(t)>, stream); });
}
constinit const Rung rung = {.idea = "one unused column, so that columns spread over banks",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1,
                                        .global_stores_per_element = 1,
                                        .barriers = 1,
                                        .conflict_free = true}};

}  // namespace ridge::transpose::padded
