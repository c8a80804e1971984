// gemv: y = alpha * A * x + beta * y, A in rows.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::gemv {

// Products and sums are in f32. With beta = 0, y is not read: whatever was there, even NaN, is
// gone.
struct Args {
  const void* a = nullptr;  // (rows, cols)
  const void* x = nullptr;  // (cols)
  void* y = nullptr;        // (rows)
  int64_t rows = 0, cols = 0;
  int64_t a_stride = 0;  // elements from row to row
  float alpha = 1, beta = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes_read(const Args& a) {
  const double elements = double(a.rows) * double(a.cols) + double(a.cols);
  return (elements + (a.beta != 0 ? double(a.rows) : 0)) * double(size_of(a.dtype));
}
constexpr double bytes_written(const Args& a) { return double(a.rows) * double(size_of(a.dtype)); }
constexpr double flops(const Args& a) { return 2.0 * double(a.rows) * double(a.cols); }

}  // namespace ridge::gemv
