// From Args to types: calls f(operator, T(), Out()) with the operator, the format of the inputs and
// that of the result.
#pragma once

#include "device/launch_reduce.cuh"
#include "device/sum_min_max.cuh"
#include "kernels/reduce/reduce.h"

namespace ridge::reduce {

template <class T, class F>
auto with_typed_operator(const Args& a, F f) {
  using E = reduction::ElementOf<T>;
  using Sums = std::conditional_t<std::is_same_v<T, int32_t>, int64_t, T>;
  if constexpr (std::is_same_v<E, float>) {
    switch (a.kind) {
      case Kind::mean: return f(reduction::Mean<E>(), T(), T());
      case Kind::norm_l1: return f(reduction::NormL1<E>(), T(), T());
      case Kind::norm_l2: return f(reduction::NormL2<E>(), T(), T());
      default: break;
    }
  }
  switch (a.kind) {
    case Kind::max: return f(reduction::Max<E>(), T(), T());
    case Kind::min: return f(reduction::Min<E>(), T(), T());
    case Kind::product: return f(reduction::Product<E>(), T(), Sums());
    case Kind::argmax: return f(reduction::ArgMax<E>(), T(), int64_t());
    case Kind::dot: return f(reduction::Dot<E>(), T(), Sums());
    case Kind::count_equal: return f(reduction::CountEqual<E>{{}, E(a.value)}, T(), int64_t());
    default: return f(reduction::Sum<E>(), T(), Sums());
  }
}
template <class F>
auto with_operator(const Args& a, F f) {
  if (a.dtype == Dtype::i32) return with_typed_operator<int32_t>(a, f);
  return with_float_type(a.dtype, [&](auto t) { return with_typed_operator<decltype(t)>(a, f); });
}
template <class Op>
constexpr int kInputs = 1;
template <class E>
constexpr int kInputs<reduction::Dot<E>> = 2;

inline Support supports_all(const Args& a, const DeviceInfo&) {
  return supports_format(a.kind, a.dtype) ? kSupported
                                          : "reduces f32, f16 and bf16; no mean or norm of i32";
}

// Element `i`, transformed: how all rungs but the last read.
template <class Op, class T>
__device__ __forceinline__ auto read_one(const Op& op, const T* x, const T* y, int64_t i) {
  if constexpr (kInputs<Op> == 2)
    return reduction::transformed(op, i, reduction::element(x[i]), reduction::element(y[i]));
  else return reduction::transformed(op, i, reduction::element(x[i]));
}

}  // namespace ridge::reduce
