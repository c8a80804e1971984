#include "ladder/ladder.h"

namespace ridge::launch_overhead {

void reference(const Case& c, std::vector<HostTensor>& t) {
  for (double& counter : t[0].values) counter += c.number("steps");
}

}  // namespace ridge::launch_overhead
