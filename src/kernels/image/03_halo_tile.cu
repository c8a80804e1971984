// image rung 03, halo_tile: a tile and the pixels around it are in shared memory.
//
// Since 01_naive: a pixel is loaded from global memory 1.6 times on average, once by each tile that
//   needs it, instead of 81 times.
// Stops at: shared memory, 81 reads per pixel.
// Not for: wide filters, whose halo outgrows the tile; and weights that are a product (04).
#include "kernels/image/halo.cuh"

namespace ridge::image::halo_tile {

template <Op op>
__global__ void __launch_bounds__(kThreads) blur_halo_tile(Args a) {
  __shared__ uint8_t tile[kHaloTile][kHaloPitch];
  const int64_t x0 = int64_t(blockIdx.x) * kTile, x = x0 + threadIdx.x;
  for (int64_t y0 = int64_t(blockIdx.y) * kTile; y0 < a.height; y0 += int64_t(gridDim.y) * kTile) {
    load_halo(a, y0, x0, tile);
    __syncthreads();
    for (int r = threadIdx.y; r < kTile; r += kBlockRows) {
      unsigned sum = 0;
#pragma unroll
      for (int i = 0; i < kTaps; ++i)
#pragma unroll
        for (int j = 0; j < kTaps; ++j)
          sum += unsigned(weight_of(op, i) * weight_of(op, j)) * tile[r + i][threadIdx.x + j];
      if (y0 + r < a.height && x < a.width)
        static_cast<uint8_t*>(a.out)[(y0 + r) * a.out_stride + x] = uint8_t(finished(op, sum));
    }
    __syncthreads();
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::u8) return "images are of bytes";
  return is_blur(a.op) ? kSupported : "needs no pixel but its own";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.height * a.width == 0) return Status::ok();
  return with_blur(a.op, [&](auto op) {
    blur_halo_tile<decltype(op)::value>
        <<<grid_over(a, kTile, kTile), dim3(kTile, kBlockRows), 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a tile with its halo in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::image::halo_tile
