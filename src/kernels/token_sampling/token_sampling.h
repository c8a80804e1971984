// sample: one token for each row of logits, drawn from its most probable tokens.
//
// The tokens of a row have an order: the larger logit first, of equal ones the lower column. What
// is kept is a first part of that order, and the largest score of it wins, where a token's score is
// its logit plus a random number that follows from seed, offset, row and column alone. So every
// rung draws the same token.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::token_sampling {

struct Args {
  const void* logits = nullptr;  // (rows, cols)
  int32_t* tokens = nullptr;     // (rows)
  int64_t rows = 0, cols = 0;
  int64_t stride = 0;     // elements from row to row
  float temperature = 1;  // 0: the first token of the order
  int64_t top_k = 0;      // 0: all
  double top_p = 1, min_p = 0;
  uint64_t seed = 0, offset = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return double(a.rows) * (double(a.cols) * double(size_of(a.dtype)) + sizeof(int32_t));
}

}  // namespace ridge::token_sampling
