#include "kernels/vote/vote.h"
#include "ladder/family.h"

namespace ridge::vote {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.x = static_cast<const float*>(call["x"].data),
                 .y = static_cast<float*>(call["y"].data),
                 .first = static_cast<uint32_t*>(call["first"].data),
                 .n = call.size("n"),
                 .dtype = call["x"].dtype});
}

}  // namespace ridge::vote
