#include <cmath>

#include "kernels/vote/vote.h"
#include "ladder/ladder.h"

namespace ridge::vote {

void reference(const Case&, std::vector<HostTensor>& t) {
  t[1].magnitude.resize(t[1].values.size());
  for (double& mask : t[2].values) mask = 0;
  for (size_t i = 0; i < t[0].values.size(); ++i) {
    const double x = t[0].values[i];
    const double sum = x >= 0 ? series(x / 2, kSteps) : series(-x / 4, kSteps);
    t[1].values[i] = x >= 0 ? sum : 1 - sum;
    t[1].magnitude[i] = 1 + sum;  // what is added is positive
    if (x >= 0) t[2].values[i / kLanes] += std::ldexp(1.0, int(i % kLanes));
  }
}

}  // namespace ridge::vote
