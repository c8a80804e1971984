// matrix_copy: out = in.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::matrix_copy {

struct Args {
  const void* in = nullptr;  // (rows, cols)
  void* out = nullptr;       // (rows, cols); overlaps nothing of `in`
  int64_t rows = 0, cols = 0;
  int64_t in_stride = 0, out_stride = 0;  // elements from row to row
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return 2.0 * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::matrix_copy
