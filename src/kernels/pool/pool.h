// Pooling: the maximum or the mean of a window of each plane, in one, two or three dimensions.
//   y[p, o] = max or mean over k of x[p, o stride + k - padding]
// Padding is no element of a maximum; a mean counts it as zeros, or leaves it out. A maximum with a
// NaN is NaN. Backward, the gradient of a maximum goes to the first of several that are equal, or
// to the last NaN; that of a mean is shared out evenly.
#pragma once

#include "kernels/conv/conv.h"

namespace ridge::pool {

// operators() lists max_pool1d, 2d, 3d, then avg_pool, then the gradients of these six.
constexpr int directions_of(int op) { return op % 3 + 1; }
constexpr bool is_mean(int op) { return op / 3 % 2 == 1; }
constexpr bool is_backward(int op) { return op >= 6; }

struct Args {
  bool mean = false, backward = false;
  bool count_padding = true;  // of a mean: padding counts as zeros
  // x, y, their steps and the sizes of windows: one channel, `batch` planes. Backward, y is dy.
  conv::Args at;
  void* dx = nullptr;  // (planes, depth, height, width); planes are contiguous
  int64_t dx_stride = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

inline double bytes(const Args& a) {
  const double in = double(a.at.batch) * double(a.at.in_pixels());
  const double out = double(a.at.batch) * double(a.at.pixels());
  return (in * (a.backward && !a.mean ? 2 : 1) + out) * double(size_of(a.dtype));
}

}  // namespace ridge::pool
