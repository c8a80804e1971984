// Minimum and maximum whose result is NaN if an argument is NaN, as in PyTorch. fminf and fmaxf
// drop the NaN.
#pragma once

#include <cmath>

namespace ridge {

__host__ __device__ __forceinline__ float max_or_nan(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return std::isnan(a) ? a : std::isnan(b) || b > a ? b : a;
#endif
}
__host__ __device__ __forceinline__ float min_or_nan(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return std::isnan(a) ? a : std::isnan(b) || b < a ? b : a;
#endif
}

}  // namespace ridge
