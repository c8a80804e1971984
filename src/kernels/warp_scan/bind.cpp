#include "kernels/warp_scan/warp_scan.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::warp_scan {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.in = call["in"].data,
                 .out = call["out"].data,
                 .rows = call.size("rows"),
                 .in_stride = ops::rows_of(call["in"]).stride,
                 .out_stride = ops::rows_of(call["out"]).stride,
                 .dtype = call["in"].dtype});
}

}  // namespace ridge::warp_scan
