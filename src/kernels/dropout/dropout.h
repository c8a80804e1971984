// dropout: out = x * (kept ? 1 / (1 - p) : 0), and backward the same with dy for x.
//
// No mask is stored: element i is dropped if word i % 4 of block i / 4 of Philox stream (seed,
// offset) is under p 2^32. So every rung, forward and backward, has the same mask, whatever the
// strides.
#pragma once

#include <algorithm>

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::dropout {

struct Args {
  const void* x = nullptr;  // (rows, cols)
  void* out = nullptr;      // (rows, cols)
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, out_stride = 0;  // elements from row to row
  int64_t x_step = 1, out_step = 1;      // and from column to column
  int64_t first = 0;  // number of the first element, where these are a part of more
  Dtype dtype = Dtype::f32;
  double p = 0;  // share that is dropped
  uint64_t seed = 0, offset = 0;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

// With p = 1 one number in 2^32 would be kept, times 0.
constexpr uint32_t threshold(const Args& a) {
  return uint32_t(std::clamp(a.p * 0x1p32, 0.0, 0x1p32 - 1));
}
constexpr float scale(const Args& a) { return a.p < 1 ? float(1 / (1 - a.p)) : 0.0f; }

constexpr double bytes(const Args& a) {
  return 2.0 * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::dropout
