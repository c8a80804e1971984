// Kernels that only move elements: they know the size of an element, not its type.
#pragma once

#include <cstdint>

#include "ridge/dtype.h"

namespace ridge {

// Calls f(T{}) with the unsigned integer of the dtype's size.
template <class F>
auto with_raw_type(Dtype dtype, F f) {
  switch (size_of(dtype)) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    default: return f(uint32_t());
  }
}
constexpr bool has_raw_type(Dtype dtype) {
  return size_of(dtype) >= 1 && size_of(dtype) <= 4;  // packed formats have size 0
}

}  // namespace ridge
