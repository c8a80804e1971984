#include <cmath>

#include "kernels/vote/family.h"

namespace ridge::vote {

void Family::reference(const Case&, std::vector<HostTensor>& t) const {
  t[1].magnitude.resize(t[1].values.size());
  for (double& mask : t[2].values) mask = 0;
  for (size_t i = 0; i < t[0].values.size(); ++i) {
    const double x = t[0].values[i];
    const bool is_a = x >= 0;
    t[1].values[i] = is_a ? polynomial<double, true>(x) : polynomial<double, false>(x);
    double size = 0;
    for (int k = 0; k <= kDegree; ++k)
      size += std::fabs(coefficient<double>(is_a, k)) * std::pow(std::fabs(x), k);
    t[1].magnitude[i] = size;
    if (is_a) t[2].values[i / kLanes] += std::ldexp(1.0, int(i % kLanes));
  }
}

}  // namespace ridge::vote
