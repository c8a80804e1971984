#include "kernels/rainbow_table/family.h"

namespace ridge::rainbow_table {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  for (size_t i = 0; i < t[0].values.size(); ++i) {
    auto key = uint32_t(t[0].values[i]);
    for (int64_t round = 0; round < c.shape[1]; ++round) key = hashed(key);
    t[1].values[i] = key;
  }
}

}  // namespace ridge::rainbow_table
