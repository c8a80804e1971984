// l1_normalize, l2_normalize: rows divided by their norm. clip_by_global_norm: a vector scaled down
// to a norm, if it has a greater one.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::normalize {

enum class Kind : uint8_t { l1, l2, clip };

// Rows: out = x / max(norm of the row, epsilon). Clip, of one row: norm = L2 norm of x, and
// out = x * min(1, max_norm / (norm + 1e-6)), as PyTorch does with gradients. All in f32, rounded
// once to the format of x. A NaN spreads over its row, or over all that is clipped.
struct Args {
  Kind kind = Kind::l2;
  const void* x = nullptr;  // (rows, cols)
  void* out = nullptr;      // (rows, cols)
  float* norm = nullptr;    // (1), of clip
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, out_stride = 0;  // elements from row to row
  float epsilon = 1e-12f;
  float max_norm = 1;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return 2.0 * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::normalize
