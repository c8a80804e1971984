#include <cmath>
#include <limits>

#include "kernels/scan/family.h"

namespace ridge::scan {
namespace {

double identity(const Case& c) {
  if (combine_of(c) == Combine::sum) return 0;
  if (c.dtype == Dtype::i32) return double(std::numeric_limits<int32_t>::min());
  if (c.dtype == Dtype::i64) return double(std::numeric_limits<int64_t>::min());
  return -std::numeric_limits<double>::infinity();
}

double combined(const Case& c, double a, double b) {
  if (combine_of(c) == Combine::max) return a > b || std::isnan(a) ? a : b;
  // i32 wraps around. Sums of i64 stay below 2^53 in every case that is checked.
  if (c.dtype == Dtype::i32) return double(int32_t(uint32_t(int64_t(a)) + uint32_t(int64_t(b))));
  return a + b;
}

}  // namespace

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  const int64_t n = c.shape[0];
  const bool with_magnitude =
      combine_of(c) == Combine::sum && is_floating(c.dtype) && !has_exact_sums(c);
  if (with_magnitude) t[1].magnitude.resize(size_t(n));
  double running = identity(c), magnitude = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = t[0].values[size_t(i)];
    const double through = combined(c, running, x);
    if (with_magnitude) {
      t[1].magnitude[size_t(i)] = is_inclusive(c) ? magnitude + std::fabs(x) : magnitude;
      magnitude += std::fabs(x);
    }
    t[1].values[size_t(i)] = is_inclusive(c) ? through : running;
    running = through;
  }
}

}  // namespace ridge::scan
