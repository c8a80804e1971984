// From Args to types: calls f(operator, segments, out) with all of them typed.
#pragma once

#include "device/reduce_segments.cuh"
#include "device/sum_min_max.cuh"
#include "kernels/segmented_reduce/segmented_reduce.h"

namespace ridge::segmented_reduce {

template <class T, class Offset, class F>
auto with_types(const Args& a, F f) {
  using E = reduction::ElementOf<T>;
  using Sums = std::conditional_t<std::is_same_v<T, int32_t>, int64_t, T>;
  const Segments<T, Offset> v = {static_cast<const T*>(a.x), a.n,
                                 static_cast<const Offset*>(a.offsets), a.segments};
  if constexpr (std::is_same_v<E, float>)
    if (a.kind == Kind::mean) return f(reduction::Mean<E>(), v, static_cast<T*>(a.out));
  switch (a.kind) {
    case Kind::max: return f(reduction::Max<E>(), v, static_cast<T*>(a.out));
    case Kind::min: return f(reduction::Min<E>(), v, static_cast<T*>(a.out));
    default: return f(reduction::Sum<E>(), v, static_cast<Sums*>(a.out));
  }
}
template <class F>
auto with_operator(const Args& a, F f) {
  const auto with_format = [&](auto t) {
    using T = decltype(t);
    return a.offset_dtype == Dtype::i64 ? with_types<T, int64_t>(a, f)
                                        : with_types<T, int32_t>(a, f);
  };
  if (a.dtype == Dtype::i32) return with_format(int32_t());
  return with_float_type(a.dtype, with_format);
}
inline Support supports_all(const Args& a, const DeviceInfo&) {
  if (!supports_format(a.kind, a.dtype)) return "reduces f32, f16, bf16 and i32; no mean of i32";
  if (a.offset_dtype != Dtype::i64 && a.offset_dtype != Dtype::i32) return "offsets are i64 or i32";
  return kSupported;
}

}  // namespace ridge::segmented_reduce
