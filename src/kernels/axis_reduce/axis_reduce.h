// sum_axis, max_axis, mean_axis: one axis of a tensor reduced, whichever it is.
#pragma once

#include <span>

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::axis_reduce {

enum class Kind : uint8_t { sum, max, mean };

// Any tensor is (outer, axis, inner): what lies before the axis, the axis, what lies behind it.
// Element (o, a, i) is at o * outer_stride + a * axis_stride + i, result (o, i) at
// o * out_stride + i. f16 and bf16 are added in f32. Of an axis of no elements: 0, -inf, NaN.
struct Args {
  Kind kind = Kind::sum;
  const void* x = nullptr;  // (outer, axis, inner)
  void* out = nullptr;      // (outer, inner)
  int64_t outer = 0, axis = 0, inner = 0;
  int64_t outer_stride = 0, axis_stride = 0, out_stride = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;
std::span<const Rung* const> rungs();

constexpr double bytes(const Args& a) {
  return double(a.outer) * double(a.axis + 1) * double(a.inner) * double(size_of(a.dtype));
}

}  // namespace ridge::axis_reduce
