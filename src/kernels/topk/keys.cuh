// Elements as whole numbers of 64 bits, all of them different, the better the larger: the order of
// the values above, the order of the columns below. So the rest of topk compares whole numbers, and
// has no ties and no NaN.
#pragma once

#include "device/convert.cuh"
#include "device/lanes.cuh"
#include "kernels/topk/topk.h"

namespace ridge::topk {

using Key = unsigned long long;  // 0: nothing, worse than every element

// Larger for larger numbers; NaN is the largest, and -0 is 0.
__device__ __forceinline__ uint32_t ordered_bits(float x) {
  const uint32_t bits = __float_as_uint(x + 0.0f);  // -0 + 0 is 0
  if (x != x) return 0xffffffffu;
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float from_ordered_bits(uint32_t bits) {
  return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

__device__ __forceinline__ Key key_of(float x, int64_t column, bool largest) {
  const uint32_t order = largest ? ordered_bits(x) : ~ordered_bits(x);
  return Key(order) << 32 | uint32_t(~uint32_t(column));
}

// Puts down element i of a row's result. A model of time runs some blocks only, so a key may never
// have been made: no column lies outside of the row, whatever the key.
template <class T>
__device__ __forceinline__ void write_result(const Args& a, int64_t row, int i, Key key) {
  const int32_t column = int32_t(min(uint32_t(~key), uint32_t(a.cols - 1)));
  static_cast<T*>(a.values)[row * a.values_stride + i] =
      static_cast<const T*>(a.x)[row * a.x_stride + column];
  a.indices[row * a.indices_stride + i] = column;
}

inline Support takes_floats(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "takes f32, f16 and bf16";
}

}  // namespace ridge::topk
