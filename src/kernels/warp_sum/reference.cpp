#include <cmath>

#include "kernels/warp_sum/warp_sum.h"
#include "ladder/ladder.h"

namespace ridge::warp_sum {

void reference(const Case& c, std::vector<HostTensor>& t) {
  t[1].magnitude.resize(t[1].values.size());
  for (size_t r = 0; r < size_t(c.size("rows")); ++r) {
    double sum = 0, size = 0;
    for (size_t k = 0; k < kLanes; ++k) {
      sum += t[0].values[r * kLanes + k];
      size += std::fabs(t[0].values[r * kLanes + k]);
    }
    t[1].values[r] = sum;
    t[1].magnitude[r] = size;
  }
}

}  // namespace ridge::warp_sum
