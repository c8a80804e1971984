// reverse_array, reverse_in_place, swap, interleave: elements change places.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::rearrange {

enum class Op : uint8_t {
  reverse,           // x[i] = a[n - 1 - i]
  reverse_in_place,  // x[i], x[n - 1 - i] = x[n - 1 - i], x[i]
  swap,              // x[i], y[i] = y[i], x[i]
  interleave,        // x[2 i], x[2 i + 1] = a[i], b[i]
};

// What an operator does not name is null. No two arrays overlap.
struct Args {
  Op op = Op::reverse;
  const void* a = nullptr;  // (n)
  const void* b = nullptr;  // (n)
  void* x = nullptr;        // (n); interleave: (2 n)
  void* y = nullptr;        // (n)
  int64_t n = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

// Read and written: each element once, on both sides.
constexpr double bytes(const Args& a) {
  const double arrays = a.op == Op::swap || a.op == Op::interleave ? 4 : 2;
  return arrays * double(a.n) * double(size_of(a.dtype));
}

}  // namespace ridge::rearrange
