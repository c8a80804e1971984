#include <cmath>
#include <limits>

#include "kernels/segmented_reduce/segmented_reduce.h"
#include "ladder/ladder.h"

namespace ridge::segmented_reduce {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const std::vector<double>&x = t[0].values, &offsets = t[1].values;
  HostTensor& out = t[2];
  out.magnitude.resize(out.values.size());
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool integers = c.dtype == Dtype::i32;
  const Kind kind = Kind(c.op);
  for (size_t s = 0; s < out.values.size(); ++s) {
    double sum = 0, magnitude = 0;
    double greatest = integers ? double(INT32_MIN) : -kInf;
    double least = integers ? double(INT32_MAX) : kInf;
    for (auto i = size_t(offsets[s]); i < size_t(offsets[s + 1]); ++i) {
      sum += x[i];
      magnitude += std::fabs(x[i]);
      // NaN wins, and stays.
      if (!std::isnan(greatest) && !(x[i] <= greatest)) greatest = x[i];
      if (!std::isnan(least) && !(x[i] >= least)) least = x[i];
    }
    const double divisor = kind == Kind::mean ? offsets[s + 1] - offsets[s] : 1;
    out.values[s] = kind == Kind::max ? greatest : kind == Kind::min ? least : sum / divisor;
    out.magnitude[s] = magnitude / divisor;
  }
}

}  // namespace ridge::segmented_reduce
