// Reductions along one axis of a tensor, which may be any axis: sums, maxima, minima, means,
// products, the places of maxima, norms.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::axis_reduce {

enum class Kind : uint8_t { sum, max, min, mean, product, argmax, norm_l1, norm_l2 };

// Any tensor is (outer, axis, inner): what lies before the axis, the axis, what lies behind it.
// Element (o, a, i) is at o * outer_stride + a * axis_stride + i, result (o, i) at
// o * out_stride + i. f16 and bf16 are computed in f32. A place is counted along the axis; of equal
// ones it is the first, and that of the first NaN where there is one. Of an axis of no elements: 0
// for sums and norms, -inf, inf, NaN, 1, -1.
struct Args {
  Kind kind = Kind::sum;
  const void* x = nullptr;  // (outer, axis, inner)
  void* out = nullptr;      // (outer, inner), of format_of_result
  int64_t outer = 0, axis = 0, inner = 0;
  int64_t outer_stride = 0, axis_stride = 0, out_stride = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr Dtype format_of_result(Kind kind, Dtype dtype) {
  return kind == Kind::argmax ? Dtype::i64 : dtype;
}
constexpr double bytes(const Args& a) {
  return double(a.outer) * double(a.inner) *
         (double(a.axis) * double(size_of(a.dtype)) +
          double(size_of(format_of_result(a.kind, a.dtype))));
}

}  // namespace ridge::axis_reduce
