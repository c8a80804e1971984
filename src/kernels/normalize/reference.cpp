#include <cfloat>
#include <cmath>
#include <limits>

#include "kernels/normalize/normalize.h"
#include "ladder/ladder.h"

namespace ridge::normalize {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const Kind kind = Kind(c.op);
  const bool clip = kind == Kind::clip;
  const size_t rows = clip ? 1 : size_t(c.size("rows")), cols = size_t(c.size(clip ? "n" : "cols"));
  for (size_t r = 0; r < rows; ++r) {
    const double* x = t[0].values.data() + r * cols;
    double sum = 0;
    for (size_t i = 0; i < cols; ++i) sum += kind == Kind::l1 ? std::fabs(x[i]) : x[i] * x[i];
    // Norms are sums in f32, whose range is part of what the operator does.
    if (sum > FLT_MAX) sum = std::numeric_limits<double>::infinity();
    if (sum < FLT_TRUE_MIN) sum = 0;
    const double norm = kind == Kind::l1 ? sum : std::sqrt(sum);
    double factor = 1, divisor = 1;
    if (clip) {
      t[2].values[0] = norm;
      factor = c.number("max_norm") / (norm + 1e-6);
      if (factor > 1) factor = 1;
    } else {
      const double epsilon = c.number("epsilon");
      divisor = norm < epsilon ? epsilon : norm;
    }
    for (size_t i = 0; i < cols; ++i) t[1].values[r * cols + i] = x[i] * factor / divisor;
  }
}

}  // namespace ridge::normalize
