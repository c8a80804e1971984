// What the rungs combine, and in which format: f16 and bf16 in f32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <limits>
#include <type_traits>

#include "kernels/scan/scan.h"

namespace ridge::scan {

// f32 for the two-byte formats.
template <class T>
using Accumulator = std::conditional_t<sizeof(T) == 2, float, T>;

// Integers wrap around, as the hardware's do.
template <class A>
struct Sum {
  __host__ __device__ A identity() const { return A(0); }
  __host__ __device__ A operator()(A a, A b) const {
    if constexpr (std::is_integral_v<A>) {
      using Unsigned = std::make_unsigned_t<A>;
      return A(Unsigned(a) + Unsigned(b));
    } else {
      return a + b;
    }
  }
};

// A NaN stays to the end.
template <class A>
struct Max {
  static constexpr A kLowest =
      std::is_integral_v<A> ? std::numeric_limits<A>::min() : -std::numeric_limits<A>::infinity();
  __host__ __device__ A identity() const { return kLowest; }
  __host__ __device__ A operator()(A a, A b) const { return a > b || a != a ? a : b; }
};

constexpr bool is_scanned(Dtype dtype) {
  return dtype == Dtype::i32 || dtype == Dtype::i64 || dtype == Dtype::f32 || dtype == Dtype::f16 ||
         dtype == Dtype::bf16;
}
constexpr const char* kNotScanned = "scans i32, i64, f32, f16 and bf16";

// Calls f(T{}, op) with the type of the elements and the operator over its accumulator.
template <class F>
auto with_operator(const Args& a, F f) {
  const auto with_type = [&](auto t) {
    using A = Accumulator<decltype(t)>;
    return a.combine == Combine::sum ? f(t, Sum<A>()) : f(t, Max<A>());
  };
  switch (a.dtype) {
    case Dtype::i64: return with_type(int64_t());
    case Dtype::f32: return with_type(float());
    case Dtype::f16: return with_type(__half());
    case Dtype::bf16: return with_type(__nv_bfloat16());
    default: return with_type(int32_t());
  }
}

}  // namespace ridge::scan
