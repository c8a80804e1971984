#include "kernels/launch_overhead/launch_overhead.h"
#include "ladder/family.h"

namespace ridge::launch_overhead {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.counters = static_cast<uint32_t*>(call["counters"].data),
                 .steps = call.integer("steps"),
                 .dtype = call["counters"].dtype});
}

}  // namespace ridge::launch_overhead
