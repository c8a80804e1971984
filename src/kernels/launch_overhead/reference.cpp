#include "kernels/launch_overhead/family.h"

namespace ridge::launch_overhead {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  for (double& counter : t[0].values) counter += double(c.shape[0]);
}

}  // namespace ridge::launch_overhead
