// Gated linear units: out = f(gate) * up, with f = silu (swiglu) or gelu (geglu), and backward
// dgate = dy * up * f'(gate), dup = dy * f(gate).
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::glu {

enum class Gate : int { silu, gelu };

// Bits of an operator's place among the family's: see operators.cpp.
enum Op : int { kGelu = 1, kBackward = 2, kPacked = 4 };

// One tensor (rows, 2 * cols) with the gates in front is up = gate + cols, at twice the stride.
struct Args {
  Gate f = Gate::silu;
  bool backward = false;
  const void* gate = nullptr;  // (rows, cols)
  const void* up = nullptr;    // (rows, cols)
  const void* dy = nullptr;    // (rows, cols), backward only
  void* out = nullptr;         // (rows, cols), forward only
  void* dgate = nullptr;       // (rows, cols), backward only
  void* dup = nullptr;         // (rows, cols), backward only
  int64_t rows = 0, cols = 0;
  // Elements from row to row. Those of dgate and dup are the gradients' own.
  int64_t gate_stride = 0, up_stride = 0, dy_stride = 0;
  int64_t out_stride = 0, dgate_stride = 0, dup_stride = 0;
  int64_t gate_step = 1, up_step = 1, dy_step = 1;  // and from column to column
  int64_t out_step = 1, dgate_step = 1, dup_step = 1;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return (a.backward ? 5.0 : 3.0) * double(a.rows) * double(a.cols) * double(size_of(a.dtype));
}

}  // namespace ridge::glu
