// From Args to types: calls f(operator, T(), Out()) with the operator, the format of the elements
// and that of the results.
#pragma once

#include "device/best_of_pairs.cuh"
#include "device/reduce_axis.cuh"
#include "device/sum_min_max.cuh"
#include "kernels/axis_reduce/axis_reduce.h"

namespace ridge::axis_reduce {

template <class F>
auto with_operator(const Args& a, F f) {
  return with_float_type(a.dtype, [&](auto t) {
    switch (a.kind) {
      case Kind::max: return f(reduction::Max<float>(), t, t);
      case Kind::min: return f(reduction::Min<float>(), t, t);
      case Kind::mean: return f(reduction::Mean<float>(), t, t);
      case Kind::product: return f(reduction::Product<float>(), t, t);
      case Kind::argmax: return f(reduction::ArgMax<float>(), t, int64_t());
      case Kind::norm_l1: return f(reduction::NormL1<float>(), t, t);
      case Kind::norm_l2: return f(reduction::NormL2<float>(), t, t);
      default: return f(reduction::Sum<float>(), t, t);
    }
  });
}
inline Support supports_all(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "reduces f32, f16 and bf16";
}

// Result `index` of outer * inner: where its elements start, and where it goes.
struct Place {
  int64_t in, out;
};
__device__ __forceinline__ Place place_of(const Args& a, int64_t index) {
  const int64_t o = index / a.inner, i = index % a.inner;
  return {o * a.outer_stride + i, o * a.out_stride + i};
}

// Combines the elements at steps first, first + step, … of the axis.
template <class Op, class T>
__device__ __forceinline__ auto walk(const Op& op, const Args& a, const T* x, int64_t first,
                                     int64_t step) {
  auto acc = op.identity();
  for (int64_t k = first; k < a.axis; k += step)
    acc = op.combine(acc, reduction::transformed(op, k, reduction::element(x[k * a.axis_stride])));
  return acc;
}

}  // namespace ridge::axis_reduce
