#include <cmath>

#include "ladder/ladder.h"

namespace ridge::gemv {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const double alpha = c.number("alpha"), beta = c.number("beta");
  const auto& a = t[0].values;  // (rows, cols)
  const auto& x = t[1].values;  // (cols)
  auto& y = t[2].values;        // (rows)
  t[2].magnitude.resize(y.size());
  for (size_t r = 0; r < y.size(); ++r) {
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const double product = a[r * x.size() + k] * x[k];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double old = beta != 0 ? beta * y[r] : 0;
    y[r] = alpha * sum + old;
    t[2].magnitude[r] = std::fabs(alpha) * magnitude + std::fabs(old);
  }
}

}  // namespace ridge::gemv
