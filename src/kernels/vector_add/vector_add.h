// vector_add, matrix_add: out = a + b.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::vector_add {

// A vector is a matrix of one row.
struct Args {
  const void* a = nullptr;  // (rows, cols)
  const void* b = nullptr;  // (rows, cols)
  void* out = nullptr;      // (rows, cols)
  int64_t rows = 0, cols = 0;
  int64_t a_stride = 0, b_stride = 0, out_stride = 0;  // elements from row to row
  int64_t a_step = 1, b_step = 1, out_step = 1;        // and from column to column
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return 3.0 * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::vector_add
