#include "kernels/segmented_scan/segmented_scan.h"
#include "kernels/segmented_scan/variants.h"
#include "ladder/family.h"

namespace ridge::segmented_scan {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& in = call["in"];
  if (in.elements() == 0) return Status::ok();
  const int op = call.op().index;
  Args args = {.in = in.data,
               .out = call["out"].data,
               .n = in.elements(),
               .inclusive = is_inclusive(op),
               .dtype = in.dtype};
  if (is_by_key(op)) args.keys = static_cast<const int32_t*>(call["keys"].data);
  else args.heads = static_cast<const uint8_t*>(call["heads"].data);
  return launch(args);
}

}  // namespace ridge::segmented_scan
