#include <algorithm>

#include "kernels/match_redux/match_redux.h"
#include "ladder/ladder.h"

namespace ridge::match_redux {

void reference(const Case&, std::vector<HostTensor>& t) {
  const auto& keys = t[0].values;
  for (size_t begin = 0; begin < keys.size(); begin += kLanes) {
    const size_t end = std::min(begin + kLanes, keys.size());
    double& most = t[2].values[begin / kLanes];
    most = 0;
    for (size_t i = begin; i < end; ++i) {
      t[1].values[i] =
          double(std::count(keys.begin() + int64_t(begin), keys.begin() + int64_t(end), keys[i]));
      most = std::max(most, t[1].values[i]);
    }
  }
}

}  // namespace ridge::match_redux
