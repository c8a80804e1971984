#include "kernels/occupancy_vs_ilp/occupancy_vs_ilp.h"
#include "ladder/family.h"

namespace ridge::occupancy_vs_ilp {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.x = static_cast<const float*>(call["x"].data),
                 .y = static_cast<float*>(call["y"].data),
                 .n = call.size("chains"),
                 .steps = int(call.integer("steps")),
                 .dtype = call["x"].dtype});
}

}  // namespace ridge::occupancy_vs_ilp
