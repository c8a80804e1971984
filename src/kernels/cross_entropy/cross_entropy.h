// Cross entropy of rows of logits x with one target column t each, e being the label smoothing:
//   lse = log sum exp(x)      loss = lse - (1 - e) x[t] - e mean(x)
//   d loss / d x = exp(x - lse) - (1 - e) [column is t] - e / cols
// Rows whose target is ignore_index have loss 0 and gradient 0, and are not read.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::cross_entropy {

enum class Op : uint8_t { forward, backward, with_gradient };
enum class Reduction : uint8_t { mean, sum, none };

struct Args {
  const void* logits = nullptr;   // (rows, cols)
  const void* targets = nullptr;  // (rows), i64 or i32
  float* losses = nullptr;        // (rows); null: not wanted
  float* loss = nullptr;          // (1): their sum or mean; null: not wanted
  float* lse = nullptr;           // (rows); null: not wanted. An input of backward
  const float* dloss =
      nullptr;  // (1): a factor of the gradient, or null; backward has it or dlosses
  const float* dlosses = nullptr;  // (rows)
  void* dlogits = nullptr;         // (rows, cols); may be logits. Null: no gradient
  int64_t rows = 0, cols = 0;
  int64_t logits_stride = 0, dlogits_stride = 0;  // elements from row to row
  int64_t ignored = -100;                         // the target of rows that do not count
  float smoothing = 0, scale = 1;                 // scale: of the gradient
  Reduction reduction = Reduction::mean;
  bool backward = false, wide_targets = true;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // see rows.cuh
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr int64_t kMostCols = 1 << 30;  // column numbers are ints

constexpr double bytes(const Args& a, int reads = 1) {
  return (reads + (a.dlogits ? 1 : 0)) * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::cross_entropy
