#include <cmath>

#include "ladder/ladder.h"

namespace ridge::gemm {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto m = size_t(c.size("m")), n = size_t(c.size("n")), k = size_t(c.size("k"));
  const double alpha = c.number("alpha"), beta = c.number("beta");
  const auto& a = t[0].values;  // (batch, m, k)
  const auto& b = t[1].values;  // (batch, k, n)
  auto& d = t[2].values;        // (batch, m, n)
  t[2].magnitude.assign(d.size(), 0);
  for (size_t i = 0; i < d.size(); ++i) {
    const size_t batch = i / (m * n), row = i / n, col = i % n;  // row: in all of a
    double sum = 0, magnitude = 0;
    for (size_t j = 0; j < k; ++j) {
      const double product = a[row * k + j] * b[(batch * k + j) * n + col];
      sum += product;
      magnitude += std::fabs(product);
    }
    const double added = beta != 0 ? beta * t[3].values[i] : 0;
    d[i] = alpha * sum + added;
    t[2].magnitude[i] = std::fabs(alpha) * magnitude + std::fabs(added);
  }
}

}  // namespace ridge::gemm
