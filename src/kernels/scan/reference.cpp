#include <cmath>
#include <limits>

#include "kernels/scan/variants.h"
#include "ladder/ladder.h"

namespace ridge::scan {
namespace {

double identity(const Case& c) {
  if (combine_of(c.op) == Combine::sum) return 0;
  if (c.dtype == Dtype::i32) return double(std::numeric_limits<int32_t>::min());
  if (c.dtype == Dtype::i64) return double(std::numeric_limits<int64_t>::min());
  return -std::numeric_limits<double>::infinity();
}

double combined(const Case& c, double a, double b) {
  if (combine_of(c.op) == Combine::max) return a > b || std::isnan(a) ? a : b;
  // i32 wraps around. Sums of i64 stay below 2^53 in every case that is checked.
  if (c.dtype == Dtype::i32) return double(int32_t(uint32_t(int64_t(a)) + uint32_t(int64_t(b))));
  return a + b;
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto& in = t[0].values;
  HostTensor& out = t[1];
  const bool is_rounded = out.spec.arithmetic > 0;  // relative to the sizes of all terms
  if (is_rounded) out.magnitude.resize(in.size());
  double running = identity(c), magnitude = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const double through = combined(c, running, in[i]);
    if (is_rounded) {
      out.magnitude[i] = is_inclusive(c.op) ? magnitude + std::fabs(in[i]) : magnitude;
      magnitude += std::fabs(in[i]);
    }
    out.values[i] = is_inclusive(c.op) ? through : running;
    running = through;
  }
}

}  // namespace ridge::scan
