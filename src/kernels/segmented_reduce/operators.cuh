// From Args to types: calls f(operator, segments, out) with all of them typed.
#pragma once

#include "device/reduce_segments.cuh"
#include "kernels/segmented_reduce/segmented_reduce.h"

namespace ridge::segmented_reduce {

template <class T, class Offset, class F>
auto with_types(const Args& a, F f) {
  using Sum = std::conditional_t<std::is_same_v<T, int32_t>, int64_t, T>;
  const Segments<T, Offset> v = {static_cast<const T*>(a.x), a.n,
                                 static_cast<const Offset*>(a.offsets), a.segments};
  if (a.kind == Kind::max) return f(reduction::Max<T>(), v, static_cast<T*>(a.out));
  return f(reduction::Sum<T>(), v, static_cast<Sum*>(a.out));
}
template <class F>
auto with_operator(const Args& a, F f) {
  const bool wide = a.offset_dtype == Dtype::i64;
  if (a.dtype == Dtype::i32)
    return wide ? with_types<int32_t, int64_t>(a, f) : with_types<int32_t, int32_t>(a, f);
  return wide ? with_types<float, int64_t>(a, f) : with_types<float, int32_t>(a, f);
}
inline Support supports_all(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::f32 && a.dtype != Dtype::i32) return "reduces f32 and i32";
  if (a.offset_dtype != Dtype::i64 && a.offset_dtype != Dtype::i32) return "offsets are i64 or i32";
  return kSupported;
}

}  // namespace ridge::segmented_reduce
