// transpose rung 01, naive: one thread per element, read along rows, written along columns.
//
// Stops at: sectors. The 32 stores of a warp go to 32 rows of the output: each writes 4 of the 32
//   bytes of a sector (1 of 32 for bytes), and the L2 must put them together.
// Not for: anything but learning: seven eighths of each sector that a warp writes to belong to
//   other warps.
#include "kernels/transpose/tiles.cuh"

namespace ridge::transpose::naive {

template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows) transpose_naive(Args a, Tiling tiling) {
  const TileAt at = tile_at<1>(tiling, blockIdx.x);
  const T* in = static_cast<const T*>(a.in) + at.batch * a.in_batch_stride;  // (rows, cols)
  T* out = static_cast<T*>(a.out) + at.batch * a.out_batch_stride;           // (cols, rows)
  const int64_t c = int64_t(at.across) * kTile + threadIdx.x;
#pragma unroll
  for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
    const int64_t r = int64_t(at.down) * kTile + i;
    if (r < a.rows && c < a.cols) out[c * a.out_stride + r] = in[r * a.in_stride + c];
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(
      a.dtype, [&](auto t) { return launch_tiles(a, transpose_naive<decltype(t)>, stream); });
}
constinit const Rung rung = {
    .idea = "one thread, one element",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::transpose::naive
