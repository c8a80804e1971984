#include "kernels/conv/call.h"
#include "ladder/family.h"

namespace ridge::conv {

Status bind(const Call& call, Launch<Args>& launch) {
  const Op op = Op(call.op().index);
  const Tensor& x = call["x"];
  Args args = {.x = x.data,
               .w = call["w"].data,
               .bias = call.find("bias") ? call["bias"].data : nullptr,
               .dtype = x.dtype};
  const Status s = args_of(call, directions_of(op), is_channels_last(op), x, call["y"], args);
  if (!s) return s;
  if (args.taps() == 0) {  // nothing to add up: y is the bias
    args.group_channels = 0;
    for (Direction& along : args.along) along.kernel = 1;
  }
  if (int64_t(args.batch) * args.filters() * args.pixels() == 0) return Status::ok();
  return launch(args);
}

}  // namespace ridge::conv
