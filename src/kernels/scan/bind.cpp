#include "kernels/scan/variants.h"
#include "ladder/family.h"

namespace ridge::scan {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& in = call["in"];
  if (in.elements() == 0) return Status::ok();
  const int op = call.op().index;
  return launch({.in = in.data,
                 .out = call["out"].data,
                 .n = in.elements(),
                 .combine = combine_of(op),
                 .inclusive = is_inclusive(op),
                 .dtype = in.dtype});
}

}  // namespace ridge::scan
