#include <cmath>

#include "ladder/ladder.h"

namespace ridge::gemv_t {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const double alpha = c.number("alpha"), beta = c.number("beta");
  const auto& a = t[0].values;  // (rows, cols)
  const auto& x = t[1].values;  // (rows)
  auto& y = t[2].values;        // (cols)
  std::vector<double> sum(y.size()), magnitude(y.size());
  for (size_t r = 0; r < x.size(); ++r)
    for (size_t k = 0; k < y.size(); ++k) {
      const double product = a[r * y.size() + k] * x[r];
      sum[k] += product;
      magnitude[k] += std::fabs(product);
    }
  for (size_t k = 0; k < y.size(); ++k) {
    const double old = beta != 0 ? beta * y[k] : 0;
    y[k] = alpha * sum[k] + old;
    magnitude[k] = std::fabs(alpha) * magnitude[k] + std::fabs(old);
  }
  t[2].magnitude = std::move(magnitude);
}

}  // namespace ridge::gemv_t
