// rgb_invert, rgb_to_gray, blur_box, blur_gaussian on images of bytes. All results are exact: they
// are defined in integers.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::image {

enum class Op : uint8_t {
  rgb_invert,     // 255 - x, each channel
  rgb_to_gray,    // (77 r + 150 g + 29 b + 128) / 256, rounded down: 0.299, 0.587, 0.114 in 256ths,
                  // halves up
  blur_box,       // the mean of 9 x 9 pixels, to the nearest (81 is odd: there are no halves)
  blur_gaussian,  // binomial weights C(8, k) / 256 in both directions, halves up
};
__host__ __device__ constexpr bool is_blur(Op op) {
  return op == Op::blur_box || op == Op::blur_gaussian;
}
// Bytes of a pixel.
__host__ __device__ constexpr int in_channels(Op op) { return is_blur(op) ? 1 : 3; }
__host__ __device__ constexpr int out_channels(Op op) { return op == Op::rgb_invert ? 3 : 1; }

// A blur sees the image's border pixels repeated outside it.
constexpr int kRadius = 4;
constexpr int kTaps = 2 * kRadius + 1;
__host__ __device__ constexpr int weight_of(Op op, int tap) {
  constexpr int kBinomial[kTaps] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
  return op == Op::blur_box ? 1 : kBinomial[tap];
}
// From the weighted sum of kTaps x kTaps pixels to the result.
__host__ __device__ constexpr unsigned finished(Op op, unsigned sum) {
  return op == Op::blur_box ? (sum + kTaps * kTaps / 2) / (kTaps * kTaps) : (sum + 32768) >> 16;
}

struct Args {
  Op op = Op::rgb_invert;
  const void* in = nullptr;  // (height, width, in_channels)
  void* out = nullptr;       // (height, width, out_channels); overlaps nothing of `in`
  int64_t height = 0, width = 0;
  int64_t in_stride = 0, out_stride = 0;  // bytes from row to row
  Dtype dtype = Dtype::u8;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return double(a.height) * double(a.width) * (in_channels(a.op) + out_channels(a.op));
}

}  // namespace ridge::image
