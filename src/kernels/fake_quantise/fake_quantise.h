// Quantise and dequantise at once, for training that knows what quantisation will do; backward, the
// gradient goes straight through where nothing was clamped.
//   t = x * (1 / scale)
//   integers: q = round(t) + zero_point, within [low, high];  y = (q - zero_point) * scale
//   fp8:      y = round(t to the format, saturating) * scale
//   backward: dx = dy where q, before it is clamped, or t is within the range, else 0
// Each step is one f32 operation. NaN stays NaN, and has the gradient 0.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::fake_quantise {

// The operators, in their order; then the same backward.
enum class Op : uint8_t { tensor, rows, fp8 };
constexpr int kOps = 3;
constexpr bool is_backward(int op) { return op >= kOps; }
constexpr Op op_of(int op) { return Op(op % kOps); }

struct Args {
  Dtype to = Dtype::i8;  // integers; e4m3 or e5m2
  bool backward = false;
  bool by_row = false;  // each row has its own scale
  Dtype dtype = Dtype::f32;
  const void* x = nullptr;              // (rows, cols)
  const void* dy = nullptr;             // (rows, cols), backward only
  void* out = nullptr;                  // (rows, cols)
  const float* scale = nullptr;         // (rows), or one
  const int32_t* zero_point = nullptr;  // the same; null: 0
  float low = -128, high = 127;
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0, dy_stride = 0, out_stride = 0;  // elements from row to row
  void* workspace = nullptr;                            // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return (a.backward ? 3.0 : 2.0) * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::fake_quantise
