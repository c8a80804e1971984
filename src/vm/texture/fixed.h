// The hardware's fixed-point numbers: one place for every rounding that a lookup does to its
// coordinates, so that what a GPU is seen to do can be put here.
//
// A coordinate in texels is rounded to a multiple of 1/256, halves upwards. Its low eight bits are
// the weight of the right-hand neighbour in a linear lookup, the rest is the texel. A normalized
// coordinate is cut down to a multiple of 2^-21 first; its product with the size is exact. Levels
// of detail are rounded as coordinates are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ridge::vm::texture {

inline constexpr int kFractionBits = 8;
inline constexpr int64_t kOne = 1 << kFractionBits;

// Keeps far-off coordinates, infinities and NaN inside what int64_t holds.
inline double tame(double x) { return x != x ? 0 : std::clamp(x, -0x1p40, 0x1p40); }

// A normalized coordinate as the hardware keeps it. `period` says after how much it repeats, 0 for
// never. A coordinate too large to have a fraction counts as the beginning of the period.
inline double normalized(double x, int period) {
  if (period) x = std::isfinite(x) ? x - period * std::floor(x / period) : 0;
  return std::floor(tame(x) * 0x1p21) * 0x1p-21;
}

// x in multiples of 1/256.
inline int64_t to_fixed(double x) { return int64_t(std::floor(tame(x) * double(kOne) + 0.5)); }

// The texel that holds x, for lookups that do not filter.
inline int64_t texel_index(double x) { return int64_t(std::floor(tame(x))); }

// The two texels around x and the weight of the second, out of 256.
struct Tap {
  int64_t first;
  int64_t weight;
};
inline Tap linear_tap(double x) {
  const int64_t fixed = to_fixed(x - 0.5);
  return {fixed >> kFractionBits, fixed & (kOne - 1)};
}

}  // namespace ridge::vm::texture
