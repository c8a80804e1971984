#include <cfloat>
#include <cmath>
#include <limits>

#include "kernels/normalize/family.h"

namespace ridge::normalize {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  const Kind kind = Kind(c.op);
  const auto cols = size_t(c.shape.back());
  const size_t rows = kind == Kind::clip ? 1 : size_t(c.shape[0]);
  const auto x_cols = size_t(t[0].spec.shape.back());  // the last `cols` of them count
  const Args defaults;
  for (size_t r = 0; r < rows; ++r) {
    const double* x = t[0].values.data() + r * x_cols + (x_cols - cols);
    double sum = 0;
    for (size_t i = 0; i < cols; ++i) sum += kind == Kind::l1 ? std::fabs(x[i]) : x[i] * x[i];
    // Norms are sums in f32, whose range is part of what the operator does.
    if (sum > FLT_MAX) sum = std::numeric_limits<double>::infinity();
    const double norm = kind == Kind::l1 ? sum : std::sqrt(sum);
    double factor = 1, divisor = 1;
    if (kind == Kind::clip) {
      t[2].values[0] = norm;
      factor = defaults.max_norm / (norm + 1e-6);
      if (factor > 1) factor = 1;
    } else {
      divisor = norm < defaults.epsilon ? double(defaults.epsilon) : norm;
    }
    for (size_t i = 0; i < cols; ++i) t[1].values[r * cols + i] = x[i] * factor / divisor;
  }
}

}  // namespace ridge::normalize
