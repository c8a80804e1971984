#include "kernels/warp_sum/warp_sum.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::warp_sum {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.in = call["in"].data,
                 .out = call["out"].data,
                 .rows = call.size("rows"),
                 .in_stride = ops::rows_of(call["in"]).stride,
                 .dtype = call["in"].dtype});
}

}  // namespace ridge::warp_sum
