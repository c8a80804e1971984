// transpose rung 03, padded: a column more in shared memory, that nobody uses.
//
// Since 02_shared_tile: rows of the tile start one bank further each, so a column lies in 32
//   different banks and is read in one turn.
// Stops at: bytes in flight: 4 (2, 1) a lane and load, four loads before the barrier.
// Not for: accesses of 16 bytes: the padding takes rows off their boundaries (04).
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
