// Multiples of a unit.
#pragma once

#include <type_traits>

namespace ridge {

// Whole numbers of 0 or more, and a unit above 0.
template <class T>
constexpr T ceil_div(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit;
}
template <class T>
constexpr T round_up(T value, std::type_identity_t<T> unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace ridge
