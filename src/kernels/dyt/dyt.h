// dyt: y = gamma tanh(alpha x) + beta, with one gamma and one beta per column; and backward, with
// t = tanh(alpha x) and s = 1 - t^2:
//   dx = dy gamma alpha s    dgamma = sum dy t    dbeta = sum dy    dalpha = sum dy gamma x s
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::dyt {

struct Args {
  bool backward = false;
  const void* x = nullptr;       // (rows, cols)
  const float* alpha = nullptr;  // (1)
  const void* gamma = nullptr;   // (cols)
  const void* beta = nullptr;    // (cols), forward only
  void* y = nullptr;             // (rows, cols), forward only; may be x
  const void* dy = nullptr;      // (rows, cols), and all below: backward only
  void* dx = nullptr;            // (rows, cols); may be x or dy
  float* dalpha = nullptr;       // (1)
  float* dgamma = nullptr;       // (cols)
  float* dbeta = nullptr;        // (cols)
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, y_stride = 0, dy_stride = 0, dx_stride = 0;  // elements from row to row
  Dtype dtype = Dtype::f32;   // of x, y, gamma and beta, and of their gradients that are no sums
  void* workspace = nullptr;  // backward only: see sums.cuh
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  const double size = double(size_of(a.dtype)), cols = double(a.cols);
  if (a.backward) return (3.0 * double(a.rows) + 1) * cols * size + 8 * cols;
  return (2.0 * double(a.rows) + 2) * cols * size;
}

}  // namespace ridge::dyt
