#include <algorithm>

#include "kernels/rearrange/family.h"

namespace ridge::rearrange {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  switch (Op(c.op)) {
    case Op::reverse:
      std::reverse_copy(t[0].values.begin(), t[0].values.end(), t[1].values.begin());
      break;
    case Op::reverse_in_place: std::reverse(t[0].values.begin(), t[0].values.end()); break;
    case Op::swap: std::swap(t[0].values, t[1].values); break;
    case Op::interleave:
      for (size_t i = 0; i < t[0].values.size(); ++i) {
        t[2].values[2 * i] = t[0].values[i];
        t[2].values[2 * i + 1] = t[1].values[i];
      }
  }
}

}  // namespace ridge::rearrange
