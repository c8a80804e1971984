#include <cmath>
#include <limits>

#include "kernels/segmented_reduce/family.h"

namespace ridge::segmented_reduce {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  const std::vector<double>&x = t[0].values, &offsets = t[1].values;
  HostTensor& out = t[2];
  out.magnitude.resize(out.values.size());
  const double least =
      c.dtype == Dtype::i32 ? double(INT32_MIN) : -std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < out.values.size(); ++s) {
    double sum = 0, magnitude = 0, greatest = least;
    for (auto i = size_t(offsets[s]); i < size_t(offsets[s + 1]); ++i) {
      sum += x[i];
      magnitude += std::fabs(x[i]);
      // NaN wins, and stays.
      if (!std::isnan(greatest) && !(x[i] <= greatest)) greatest = x[i];
    }
    out.values[s] = Kind(c.op) == Kind::sum ? sum : greatest;
    out.magnitude[s] = magnitude;
  }
}

}  // namespace ridge::segmented_reduce
