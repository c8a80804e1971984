// From a row's sum to its element of y; the same in every rung.
#pragma once

#include "device/convert.cuh"
#include "kernels/gemv/gemv.h"

namespace ridge::gemv {

template <class T>
__device__ __forceinline__ void finish(const Args& args, int64_t row, float sum) {
  T* const y = static_cast<T*>(args.y) + row;
  float result = args.alpha * sum;
  if (args.beta != 0) result += args.beta * to_float(*y);
  *y = from_float<T>(result);
}

}  // namespace ridge::gemv
