// The special-function unit, one instruction per result: what nvcc gives only with -use_fast_math.
// Subnormal arguments and results are 0.
#pragma once

namespace ridge::ptx {

__device__ __forceinline__ float exp2_approx(float x) {  // relative error 2^-22.5
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float rcp_approx(float x) {  // 1 ulp
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float tanh_approx(float x) {  // relative error 2^-11
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace ridge::ptx
