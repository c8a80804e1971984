// Activations, one number at a time: out = f(x), and backward out = dy * f'(x).
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::activation {

enum class Function : int {
  relu,
  leaky_relu,  // alpha: slope below 0
  hardtanh,    // alpha, beta: ends; no gradient at the ends
  clip,        // alpha, beta: ends; gradient at the ends
  sigmoid,
  tanh,
  gelu,       // x Phi(x)
  gelu_tanh,  // its approximation with tanh
  silu,
  elu,       // alpha: minus the limit at -Inf
  softplus,  // alpha: sharpness; beta: where sharpness * x is large enough to be the result
};
constexpr int kFunctions = int(Function::softplus) + 1;

// The operators are the functions in this order, then the same backward.
constexpr Function function_of(int op) { return Function(op % kFunctions); }
constexpr bool is_backward(int op) { return op >= kFunctions; }

struct Args {
  Function function = Function::relu;
  bool backward = false;
  const void* x = nullptr;   // (rows, cols)
  const void* dy = nullptr;  // (rows, cols), backward only
  void* out = nullptr;       // (rows, cols)
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, dy_stride = 0, out_stride = 0;  // elements from row to row
  int64_t x_step = 1, dy_step = 1, out_step = 1;        // and from column to column
  Dtype dtype = Dtype::f32;
  float alpha = 0, beta = 0;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return (a.backward ? 3.0 : 2.0) * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::activation
