#include <algorithm>
#include <cmath>

#include "core/number.h"
#include "ladder/ladder.h"

namespace ridge::dyt {
namespace {

void backward(std::vector<HostTensor>& t) {
  const auto &x = t[0].values, &dy = t[1].values, &gamma = t[3].values;
  const double alpha = t[2].values[0];
  HostTensor &dx = t[4], &dalpha = t[5], &dgamma = t[6], &dbeta = t[7];
  for (HostTensor* out : {&dx, &dalpha, &dgamma, &dbeta}) {
    std::fill(out->values.begin(), out->values.end(), 0);
    out->magnitude.assign(out->values.size(), 0);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t col = i % gamma.size();
    const double u = alpha * x[i], tanh = std::tanh(u), e = std::exp(-2 * std::fabs(u));
    const double slope = 4 * e / ((1 + e) * (1 + e));
    const double term = dy[i] * gamma[col] * slope;
    // A unit in the exponent is 2 |u| units of the result.
    const double units = 1 + 2 * std::fabs(u);
    dx.values[i] = term * alpha;
    dx.magnitude[i] = std::fabs(term * alpha) * units + 0x1p-100;
    dalpha.values[0] += term * x[i];
    dalpha.magnitude[0] += std::fabs(term * x[i]) * units;
    dgamma.values[col] += dy[i] * tanh;
    dgamma.magnitude[col] += std::fabs(dy[i]);  // near 0 the tanh has the error of a number near 1
    dbeta.values[col] += dy[i];
    dbeta.magnitude[col] += std::fabs(dy[i]);
  }
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  if (c.def->name == "dyt_backward") return backward(t);
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
