// image rung 01, naive: one thread per pixel.
//
// Stops at: bytes in flight, for the pointwise operators: three loads of one byte each. The blurs
//   stop at load instructions: 81 per pixel, though the cache serves most of them.
// Not for: a neighbourhood of more than a few pixels: the cache serves the loads, but each is an
//   instruction.
#include "kernels/image/grid.cuh"

namespace ridge::image::naive {

constexpr int kBlockCols = 32, kBlockRows = 8;

template <Op op>
__global__ void __launch_bounds__(kBlockCols* kBlockRows) image_naive(Args a) {
  const int64_t x = int64_t(blockIdx.x) * kBlockCols + threadIdx.x;
  if (x >= a.width) return;
  const uint8_t* in = static_cast<const uint8_t*>(a.in);
  for (int64_t y = int64_t(blockIdx.y) * kBlockRows + threadIdx.y; y < a.height;
       y += int64_t(gridDim.y) * kBlockRows) {
    const uint8_t* pixel = in + y * a.in_stride + x * in_channels(op);
    uint8_t* out = static_cast<uint8_t*>(a.out) + y * a.out_stride + x * out_channels(op);
    if constexpr (op == Op::rgb_invert) {
      for (int k = 0; k < 3; ++k) out[k] = uint8_t(255 - pixel[k]);
    } else if constexpr (op == Op::rgb_to_gray) {
      out[0] = uint8_t((77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8);
    } else {
      unsigned sum = 0;
      for (int i = 0; i < kTaps; ++i) {
        const uint8_t* row = in + clamped(y + i - kRadius, a.height) * a.in_stride;
        for (int j = 0; j < kTaps; ++j)
          sum += unsigned(weight_of(op, i) * weight_of(op, j)) *
                 row[clamped(x + j - kRadius, a.width)];
      }
      out[0] = uint8_t(finished(op, sum));
    }
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u8 ? kSupported : "images are of bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.height * a.width == 0) return Status::ok();
  const dim3 grid = grid_over(a, kBlockCols, kBlockRows), block(kBlockCols, kBlockRows);
  switch (a.op) {
    case Op::rgb_invert: image_naive<Op::rgb_invert><<<grid, block, 0, stream>>>(a); break;
    case Op::rgb_to_gray: image_naive<Op::rgb_to_gray><<<grid, block, 0, stream>>>(a); break;
    case Op::blur_box: image_naive<Op::blur_box><<<grid, block, 0, stream>>>(a); break;
    case Op::blur_gaussian: image_naive<Op::blur_gaussian><<<grid, block, 0, stream>>>(a);
  }
  return launch_status();
}
constinit const Rung rung = {.idea = "one thread, one pixel",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::image::naive
