// By how much a pair turns, in float64: for the truth, and for the tables of tests.
#pragma once

#include <cmath>
#include <cstdint>

namespace ridge::rope {

inline double log2_speed(int64_t pair, int64_t dim, double base) {
  return -2.0 * double(pair) / double(dim) * std::log2(base);
}
inline double angle(int64_t position, int64_t pair, int64_t dim, double base) {
  return double(position) * std::exp2(log2_speed(pair, dim, base));
}

}  // namespace ridge::rope
