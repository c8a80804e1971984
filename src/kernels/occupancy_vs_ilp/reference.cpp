#include "ladder/ladder.h"

namespace ridge::occupancy_vs_ilp {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const int64_t steps = c.integer("steps");
  for (size_t i = 0; i < t[0].values.size(); ++i) {
    double y = 0;
    for (int64_t step = 0; step < steps; ++step) y = y / 2 + t[0].values[i];
    t[1].values[i] = y;
  }
}

}  // namespace ridge::occupancy_vs_ilp
