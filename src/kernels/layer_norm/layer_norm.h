// Norms along rows: layer_norm and rms_norm, each also of the sum of two tensors, and backward.
//   mean = sum x / n (rms_norm: 0)    rstd = 1 / sqrt(sum (x - mean)^2 / n + epsilon)
//   n = (x - mean) rstd               y = n gamma + beta
// Backward, with g = dy gamma:
//   dx = rstd (g - sum g / n - n sum (g n) / n) + dsum    dgamma = sum dy n    dbeta = sum dy
// where rms_norm leaves out sum g / n.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::layer_norm {

enum class Op : uint8_t {
  layer_norm,
  rms_norm,
  add_layer_norm,  // of x + residual, which is an output, too
  add_rms_norm,
  layer_norm_bwd,
  rms_norm_bwd,
};
constexpr bool is_backward(Op op) { return op >= Op::layer_norm_bwd; }
constexpr bool is_centred(Op op) {
  return op == Op::layer_norm || op == Op::add_layer_norm || op == Op::layer_norm_bwd;
}
constexpr bool is_added(Op op) { return op == Op::add_layer_norm || op == Op::add_rms_norm; }

struct Args {
  bool backward = false, centred = true;
  const void* x = nullptr;         // (rows, cols)
  const void* residual = nullptr;  // (rows, cols); null: there is none, and no sum
  const void* gamma = nullptr;     // (cols); null: ones
  const void* beta = nullptr;      // (cols); null: zeros
  void* sum = nullptr;             // (rows, cols); may be x or residual
  void* y = nullptr;               // (rows, cols); may be x or residual
  float* mean = nullptr;           // (rows): an output that may be null; backward an input, which
                                   // rms_norm has not
  float* rstd = nullptr;           // (rows): the same
  const void* dy = nullptr;        // (rows, cols), and all below: backward only
  const void* dsum = nullptr;      // (rows, cols); null: zeros
  void* dx = nullptr;              // (rows, cols); may be x, dy or dsum
  float* dgamma = nullptr;         // (cols)
  float* dbeta = nullptr;          // (cols); null for rms_norm
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, residual_stride = 0, sum_stride = 0, y_stride = 0;  // from row to row
  int64_t dy_stride = 0, dsum_stride = 0, dx_stride = 0;
  float epsilon = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // backward only: see column_sums.cuh
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr int64_t kMostCols = 1 << 30;  // column numbers are ints

constexpr double bytes(const Args& a) {
  const double tensors = a.backward ? (a.dsum ? 4 : 3) : a.residual ? 4 : 2;
  return tensors * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}
// How many tensors a thread has under way while it loads.
constexpr int tensors(const Args& a) { return a.backward || a.residual ? 2 : 1; }

}  // namespace ridge::layer_norm
