// image rung 04, separable: first along rows, then along columns.
//
// Since 03_halo_tile: the weights are a product, so 9 + 9 reads and additions replace 81. The sums
//   along rows stay in shared memory as 16-bit numbers: the largest is 255 x 256.
// Stops at: instructions. Every read brings one or two bytes, and every addition serves one pixel.
// Not for: weights that are not a product of a row and a column, such as those of a disc.
#include "kernels/image/halo.cuh"

namespace ridge::image::separable {

template <Op op>
__global__ void __launch_bounds__(kThreads) blur_separable(Args a) {
  __shared__ uint8_t tile[kHaloTile][kHaloPitch];
  __shared__ uint16_t sums[kHaloTile][kTile];  // along rows
  const int64_t x0 = int64_t(blockIdx.x) * kTile, x = x0 + threadIdx.x;
  for (int64_t y0 = int64_t(blockIdx.y) * kTile; y0 < a.height; y0 += int64_t(gridDim.y) * kTile) {
    load_halo(a, y0, x0, tile);
    __syncthreads();
    for (int r = threadIdx.y; r < kHaloTile; r += kBlockRows) {
      unsigned sum = 0;
#pragma unroll
      for (int j = 0; j < kTaps; ++j) sum += unsigned(weight_of(op, j)) * tile[r][threadIdx.x + j];
      sums[r][threadIdx.x] = uint16_t(sum);
    }
    __syncthreads();
    for (int r = threadIdx.y; r < kTile; r += kBlockRows) {
      unsigned sum = 0;
#pragma unroll
      for (int i = 0; i < kTaps; ++i) sum += unsigned(weight_of(op, i)) * sums[r + i][threadIdx.x];
      if (y0 + r < a.height && x < a.width)
        static_cast<uint8_t*>(a.out)[(y0 + r) * a.out_stride + x] = uint8_t(finished(op, sum));
    }
    // The next tile may overwrite this one: its sums were read from other memory.
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::u8) return "images are of bytes";
  return is_blur(a.op) ? kSupported : "needs no pixel but its own";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.height * a.width == 0) return Status::ok();
  return with_blur(a.op, [&](auto op) {
    blur_separable<decltype(op)::value>
        <<<grid_over(a, kTile, kTile), dim3(kTile, kBlockRows), 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "rows, then columns: 18 taps instead of 81",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::image::separable
