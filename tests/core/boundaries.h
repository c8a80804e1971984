// The numbers at which rounding to a format changes its mind: midpoints between neighbours, and
// what lies just beside them. Shared with tests/kernels/programs/low_precision.cu.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/number.h"

namespace ridge {

// All numbers of the format that are finite, in order, each once. Of up to 16 bits.
inline std::vector<double> all_values(Dtype dtype) {
  std::vector<double> values;
  for (uint64_t bits = 0; bits < uint64_t(1) << bits_of(dtype); ++bits)
    if (const double value = decode(dtype, bits); std::isfinite(value)) values.push_back(value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// In the precision of T: all numbers of the format, the midpoints, the neighbours of both in T, the
// same around the first number past each end, and the specials.
template <class T>
std::vector<T> boundaries(Dtype dtype) {
  std::vector<double> centres;
  const std::vector<double> values = all_values(dtype);
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) {
    centres.push_back(values[i]);
    if (i + 1 < count) centres.push_back(values[i] / 2 + values[i + 1] / 2);
  }
  const double step = values[count - 1] - values[count - 2];
  for (const double past : {step / 2, step, 1.5 * step, 2 * step}) {
    centres.push_back(values[count - 1] + past);
    centres.push_back(-values[count - 1] - past);
    centres.push_back(values[0] - past);
  }
  for (const double extra : {smallest(dtype) / 2, smallest(dtype) * 0.75, smallest(dtype) * 1.25})
    centres.push_back(extra), centres.push_back(-extra);

  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> numbers = {T(0),
                            -T(0),
                            infinity,
                            -infinity,
                            std::numeric_limits<T>::quiet_NaN(),
                            -std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest(),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::denorm_min(),
                            -std::numeric_limits<T>::denorm_min()};
  for (const double centre : centres) {
    const T near = T(centre);
    if (std::isinf(near)) continue;
    for (const T x : {near, std::nextafter(near, infinity), std::nextafter(near, -infinity)})
      numbers.push_back(x), numbers.push_back(-x);
  }
  return numbers;
}

}  // namespace ridge
