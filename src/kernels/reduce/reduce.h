// Reductions of a whole vector to one number: sum, max, min, mean, product, argmax, norms, dot
// product, and how many elements have a given value.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::reduce {

enum class Kind : uint8_t {
  sum,
  max,
  min,
  mean,
  product,
  argmax,
  norm_l1,
  norm_l2,
  dot,
  count_equal,
};

// Formats are as in PyTorch: sums and products of i32 are i64, indices and counts are i64, all
// else has the format of the inputs. f16 and bf16 are added in f32. Of no elements: 0 for sums,
// norms, counts; 1 for a product; NaN for a mean; -inf (or the least integer) for max, +inf for
// min, and -1 for argmax.
struct Args {
  Kind kind = Kind::sum;
  const void* x = nullptr;  // (n)
  const void* y = nullptr;  // (n), of dot
  void* out = nullptr;      // (1)
  int64_t n = 0;
  double value = 0;  // of count_equal
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr bool supports_format(Kind kind, Dtype dtype) {
  const bool floating_only = kind == Kind::mean || kind == Kind::norm_l1 || kind == Kind::norm_l2;
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16 ||
         (dtype == Dtype::i32 && !floating_only);
}
constexpr Dtype format_of_result(Kind kind, Dtype dtype) {
  if (kind == Kind::argmax || kind == Kind::count_equal) return Dtype::i64;
  const bool widens = kind == Kind::sum || kind == Kind::product || kind == Kind::dot;
  return dtype == Dtype::i32 && widens ? Dtype::i64 : dtype;
}
constexpr double bytes(const Args& a) {
  return double(a.n) * double(size_of(a.dtype)) * (a.kind == Kind::dot ? 2 : 1);
}

}  // namespace ridge::reduce
