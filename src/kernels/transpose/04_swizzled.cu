// transpose rung 04, swizzled: column c of row r lies at c ^ r.
//
// Since 03_padded: it is free of conflicts without the unused column. A row is 128 bytes again, so
//   it could be read and written 16 bytes at a time.
// Stops at: bytes in flight, as before.
// Not for: tiles that other code indexes plainly, or whose width is not a power of two.
#include "kernels/transpose/tiles.cuh"

namespace ridge::transpose::swizzled {

struct Layout {
  static constexpr int kElements = kTile * kTile;
  __device__ static int at(int row, int col) { return row * kTile + (col ^ row); }
};

template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows) transpose_swizzled(Args a, Tiling tiling) {
  transpose_tile<T, Layout>(a, tiling);
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(
      a.dtype, [&](auto t) { return launch_tiles(a, transpose_swizzled<decltype(t)>, stream); });
}
constinit const Rung rung = {.idea = "columns exchanged by XOR instead of padding",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1,
                                        .global_stores_per_element = 1,
                                        .barriers = 1,
                                        .conflict_free = true}};

}  // namespace ridge::transpose::swizzled
