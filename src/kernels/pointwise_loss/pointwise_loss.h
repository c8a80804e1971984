// Losses of one element and its target at a time: mse_loss and kl_div. See docs/losses.md.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::pointwise_loss {

enum class Op : uint8_t { mse, mse_bwd, kl_div, kl_div_bwd };
constexpr bool is_backward(Op op) { return op == Op::mse_bwd || op == Op::kl_div_bwd; }
// Of the terms of all elements; batchmean divides the sum by the first dimension's size.
enum class Reduction : uint8_t { mean, sum, batchmean };

struct Args {
  Op op = Op::mse;
  const void* x = nullptr;       // (n); kl_div: logarithms of probabilities; its backward: null
  const void* target = nullptr;  // (n)
  float* loss = nullptr;         // (1), forward only
  const float* dloss = nullptr;  // (1), backward only
  void* dx = nullptr;            // (n), backward only
  int64_t n = 0;
  float factor = 1;         // of the sum of all terms
  bool log_target = false;  // kl_div: whether targets are logarithms, too
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  const double tensors = (a.x ? 1 : 0) + (a.target ? 1 : 0) + (a.dx ? 1 : 0);
  return tensors * double(a.n) * double(size_of(a.dtype));
}

}  // namespace ridge::pointwise_loss
