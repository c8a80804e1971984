#include "kernels/match_redux/match_redux.h"
#include "ladder/family.h"

namespace ridge::match_redux {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.keys = static_cast<const uint32_t*>(call["keys"].data),
                 .counts = static_cast<uint32_t*>(call["counts"].data),
                 .most = static_cast<uint32_t*>(call["most"].data),
                 .n = call.size("n"),
                 .dtype = call["keys"].dtype});
}

}  // namespace ridge::match_redux
