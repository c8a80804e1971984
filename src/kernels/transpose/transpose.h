// transpose: out(b, c, r) = in(b, r, c).
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::transpose {

struct Args {
  const void* in = nullptr;  // (batch, rows, cols)
  void* out = nullptr;       // (batch, cols, rows); overlaps nothing of `in`
  int64_t batch = 1, rows = 0, cols = 0;
  int64_t in_stride = 0, out_stride = 0;              // elements from row to row
  int64_t in_batch_stride = 0, out_batch_stride = 0;  // elements from matrix to matrix
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr int64_t elements(const Args& a) { return a.batch * a.rows * a.cols; }
constexpr double bytes(const Args& a) {
  return 2.0 * double(elements(a)) * double(size_of(a.dtype));
}

}  // namespace ridge::transpose
