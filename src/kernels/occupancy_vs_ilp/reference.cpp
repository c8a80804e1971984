#include "kernels/occupancy_vs_ilp/family.h"

namespace ridge::occupancy_vs_ilp {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  for (size_t i = 0; i < t[0].values.size(); ++i) {
    double y = 0;
    for (int64_t step = 0; step < c.shape[1]; ++step) y = y / 2 + t[0].values[i];
    t[1].values[i] = y;
  }
}

}  // namespace ridge::occupancy_vs_ilp
