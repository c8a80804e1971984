#include <cmath>

#include "kernels/warp_sum/family.h"

namespace ridge::warp_sum {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  t[1].magnitude.resize(t[1].values.size());
  for (size_t r = 0; r < size_t(c.shape[0]); ++r) {
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
