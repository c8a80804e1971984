// What the four operators do with a column; the rungs only differ in which threads do it, and when.
//
// Each operator makes a sum over the row, and then a result for every column from that sum. The
// forward operators know the row's maximum before the sum, so that no exponential overflows.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "device/convert.cuh"
#include "device/held_rows.cuh"
#include "device/max_sum.cuh"
#include "kernels/softmax/softmax.h"
#include "select/held_rows.h"

namespace ridge::softmax {

using max_sum::Accurate, max_sum::Fast;

// a: x or y. b: dy. The differences are taken first and multiplied by log2(e) after: one FMA would
// do both, but be off by a roundoff of the maximum, which may be larger than any exponent.
template <Op op, class Math>
struct RowOp {
  static constexpr bool kForward = !is_backward(op);

  __device__ static __forceinline__ float term(float a, float b, float max) {
    if constexpr (kForward) {
      return Math::exp(a - max);
    } else if constexpr (op == Op::softmax_bwd) {
      return a * b;
    } else {
      return b;
    }
  }
  // Once a row, from its total.
  __device__ static __forceinline__ float finish(float total) {
    if constexpr (op == Op::softmax) {
      return 1 / total;
    } else if constexpr (op == Op::log_softmax) {
      return logf(total);
    } else {
      return total;
    }
  }
  __device__ static __forceinline__ float result(float a, float b, float max, float finished) {
    if constexpr (op == Op::softmax) {
      return Math::exp(a - max) * finished;
    } else if constexpr (op == Op::log_softmax) {
      return (a - max) - finished;
    } else if constexpr (op == Op::softmax_bwd) {
      return a * (b - finished);
    } else {
      return b - Math::exp(a) * finished;
    }
  }
};

// Calls f(std::integral_constant<Op, op>()).
template <class F>
auto with_op(Op op, F f) {
  switch (op) {
    case Op::log_softmax: return f(std::integral_constant<Op, Op::log_softmax>());
    case Op::softmax_bwd: return f(std::integral_constant<Op, Op::softmax_bwd>());
    case Op::log_softmax_bwd: return f(std::integral_constant<Op, Op::log_softmax_bwd>());
    default: return f(std::integral_constant<Op, Op::softmax>());
  }
}
// Calls f(T(), std::integral_constant<Op, op>()).
template <class F>
auto with_type_and_op(const Args& a, F f) {
  return with_float_type(a.dtype,
                         [&](auto t) { return with_op(a.op, [&](auto op) { return f(t, op); }); });
}

inline Support supports_any(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.cols > kMostCols) return "counts columns up to 2^30";
  return kSupported;
}

// The time of a grid whose SMs work on `an_sm` rows each at a time, which are read `reads` times.
inline double rows_us(Tuned tuned, const Args& a, double an_sm, const DeviceInfo& device,
                      int reads = 1) {
  return held::rows_us(tuned, reads * bytes_read(a) + bytes_written(a), a.rows, an_sm, device);
}

// The rows of an Args that a kernel works on.
template <class T>
struct Rows {
  const T* in;  // (cols)
  const T* dy;  // (cols)
  T* out;       // (cols)

  __device__ __forceinline__ Rows(const Args& args, int64_t row)
      : in(static_cast<const T*>(args.in) + row * args.in_stride),
        dy(static_cast<const T*>(args.dy) + row * args.dy_stride),
        out(static_cast<T*>(args.out) + row * args.out_stride) {}
};

}  // namespace ridge::softmax
