// softmax, log_softmax and their backward passes, along rows.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::softmax {

enum class Op : uint8_t {
  softmax,          // out = exp(x - max) / sum exp(x - max)
  log_softmax,      // out = x - max - log sum exp(x - max)
  softmax_bwd,      // dx = y * (dy - sum y dy)
  log_softmax_bwd,  // dx = dy - exp(y) * sum dy
};
constexpr bool is_backward(Op op) { return op == Op::softmax_bwd || op == Op::log_softmax_bwd; }

struct Args {
  const void* in = nullptr;  // (rows, cols): x, or y of the forward pass
  const void* dy = nullptr;  // (rows, cols): backward only
  void* out = nullptr;       // (rows, cols); may be `in` or `dy`
  int64_t rows = 0, cols = 0;
  int64_t in_stride = 0, dy_stride = 0, out_stride = 0;  // elements from row to row
  Op op = Op::softmax;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr int64_t kMostCols = 1 << 30;  // column numbers are ints

constexpr double bytes_read(const Args& a) {
  return (is_backward(a.op) ? 2.0 : 1.0) * double(a.rows) * double(a.cols) *
         double(size_of(a.dtype));
}
constexpr double bytes_written(const Args& a) {
  return double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::softmax
