#include <cmath>

#include "kernels/gemv_t/family.h"

namespace ridge::gemv_t {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  const Args args = bind(c, std::vector<void*>(t.size()));
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
    const double old = args.beta != 0 ? args.beta * y[k] : 0;
    y[k] = args.alpha * sum[k] + old;
    magnitude[k] = std::fabs(args.alpha) * magnitude[k] + std::fabs(old);
  }
  t[2].magnitude = std::move(magnitude);
}

}  // namespace ridge::gemv_t
