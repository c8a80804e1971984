// Grids over an image: columns in x, rows in y as far as a grid goes.
#pragma once

#include <algorithm>

#include "kernels/image/image.h"

namespace ridge::image {

constexpr int64_t kMostInY = 65535;

inline dim3 grid_over(const Args& a, int64_t cols, int64_t rows) {
  return dim3(unsigned((a.width + cols - 1) / cols),
              unsigned(std::min((a.height + rows - 1) / rows, kMostInY)));
}

// Calls f(std::integral_constant<Op>) for a blur.
template <class F>
Status with_blur(Op op, F f) {
  if (op == Op::blur_box) return f(std::integral_constant<Op, Op::blur_box>());
  return f(std::integral_constant<Op, Op::blur_gaussian>());
}

__device__ __forceinline__ int64_t clamped(int64_t i, int64_t size) {
  return min(max(i, int64_t(0)), size - 1);
}

}  // namespace ridge::image
