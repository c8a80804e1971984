// gemv_t: y = alpha * transpose(A) * x + beta * y, A in rows.
#pragma once

#include "kernels/gemv/gemv.h"

namespace ridge::gemv_t {

// As gemv's, but x has a number for every row of A, and y for every column.
using Args = gemv::Args;
using Rung = RungOf<Args>;

constexpr double bytes_read(const Args& a) {
  const double elements = double(a.rows) * double(a.cols) + double(a.rows);
  return (elements + (a.beta != 0 ? double(a.cols) : 0)) * double(size_of(a.dtype));
}
constexpr double bytes_written(const Args& a) { return double(a.cols) * double(size_of(a.dtype)); }

}  // namespace ridge::gemv_t
