#include <cmath>
#include <limits>

#include "kernels/axis_reduce/family.h"

namespace ridge::axis_reduce {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  const auto outer = size_t(c.shape[0]), axis = size_t(c.shape[1]), inner = size_t(c.shape[2]);
  const std::vector<double>& x = t[0].values;
  HostTensor& out = t[1];
  out.magnitude.resize(out.values.size());
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 0; i < inner; ++i) {
      double sum = 0, magnitude = 0, greatest = -std::numeric_limits<double>::infinity();
      for (size_t a = 0; a < axis; ++a) {
        const double value = x[(o * axis + a) * inner + i];
        sum += value;
        magnitude += std::fabs(value);
        // NaN wins, and stays.
        if (!std::isnan(greatest) && !(value <= greatest)) greatest = value;
      }
      const bool mean = Kind(c.op) == Kind::mean;
      out.values[o * inner + i] =
          Kind(c.op) == Kind::max ? greatest : sum / (mean ? double(axis) : 1);
      out.magnitude[o * inner + i] = magnitude / (mean ? double(axis) : 1);
    }
}

}  // namespace ridge::axis_reduce
