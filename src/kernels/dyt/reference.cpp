#include <algorithm>
#include <cmath>

#include "core/number.h"
#include "ladder/ladder.h"

namespace ridge::dyt {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto &x = t[0].values, &gamma = t[2].values, &beta = t[3].values;
  const double alpha = t[1].values[0];
  HostTensor& y = t[4];
  y.magnitude.resize(y.values.size());
  // A tanh under the least normal number may have become 0 on the way.
  const double flushed = 0x1p-126 / unit_roundoff(c.dtype);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t col = i % gamma.size();
    const double term = gamma[col] * std::tanh(alpha * x[i]);
    y.values[i] = term + beta[col];
    y.magnitude[i] =
        std::max(std::fabs(term) + std::fabs(beta[col]), flushed * (1 + std::fabs(gamma[col])));
  }
}

}  // namespace ridge::dyt
