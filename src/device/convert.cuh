// Between the formats in memory and the f32 that kernels compute in.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ridge/dtype.h"

namespace ridge {

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

// Calls f(T{}) with the type that holds `dtype`, one of the three that kernels compute with.
template <class F>
auto with_float_type(Dtype dtype, F f) {
  switch (dtype) {
    case Dtype::f16: return f(__half());
    case Dtype::bf16: return f(__nv_bfloat16());
    default: return f(float());
  }
}
constexpr bool is_compute_float(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

}  // namespace ridge
