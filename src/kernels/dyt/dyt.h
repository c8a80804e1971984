// dyt: y = gamma tanh(alpha x) + beta, with one gamma and one beta per column.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::dyt {

struct Args {
  const void* x = nullptr;       // (rows, cols)
  const float* alpha = nullptr;  // (1)
  const void* gamma = nullptr;   // (cols)
  const void* beta = nullptr;    // (cols)
  void* y = nullptr;             // (rows, cols); may be x
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, y_stride = 0;  // elements from row to row
  Dtype dtype = Dtype::f32;            // of all but alpha
  void* workspace = nullptr;           // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return (2.0 * double(a.rows) + 2) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::dyt
