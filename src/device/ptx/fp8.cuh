// Two f32 to two fp8 in one instruction, from sm_89 on: rounded to nearest even, saturating.
#pragma once

#include <cstdint>

#include "ridge/dtype.h"

namespace ridge::ptx {

// `low` goes to the low byte.
template <Dtype E>
__device__ __forceinline__ uint32_t narrow_pair(float low, float high) {
  static_assert(E == Dtype::e4m3 || E == Dtype::e5m2, "fp8");
  uint16_t pair;
  if constexpr (E == Dtype::e4m3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}

}  // namespace ridge::ptx
