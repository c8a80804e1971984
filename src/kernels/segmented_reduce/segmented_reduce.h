// Sums, maxima, minima and means: one result per segment of a vector; segments may have any length.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::segmented_reduce {

enum class Kind : uint8_t { sum, max, min, mean };

// Segment s is elements [offsets[s], offsets[s + 1]): offsets never fall, and the last is at most
// n. Sums of i32 are i64; all else has the format of x. f16 and bf16 are computed in f32. Of an
// empty segment: 0, the least number, the greatest, NaN.
struct Args {
  Kind kind = Kind::sum;
  const void* x = nullptr;        // (n), f32, f16, bf16 or i32
  const void* offsets = nullptr;  // (segments + 1), i64 or i32
  void* out = nullptr;            // (segments)
  int64_t n = 0, segments = 0;
  Dtype dtype = Dtype::f32, offset_dtype = Dtype::i64;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr bool supports_format(Kind kind, Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16 ||
         (dtype == Dtype::i32 && kind != Kind::mean);
}
constexpr Dtype format_of_result(Kind kind, Dtype dtype) {
  return kind == Kind::sum && dtype == Dtype::i32 ? Dtype::i64 : dtype;
}
constexpr double bytes(const Args& a) {
  return double(a.n) * double(size_of(a.dtype)) +
         double(a.segments) *
             double(size_of(a.offset_dtype) + size_of(format_of_result(a.kind, a.dtype)));
}

}  // namespace ridge::segmented_reduce
