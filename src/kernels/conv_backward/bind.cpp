#include "kernels/conv/call.h"
#include "kernels/conv_backward/conv_backward.h"
#include "ladder/family.h"

namespace ridge::conv_backward {

Status bind(const Call& call, Launch<Args>& launch) {
  const int op = call.op().index, directions = directions_of(op);
  Args args = {.weights = is_of_weights(op)};
  const Tensor &dy = call["dy"], &x = call[args.weights ? "x" : "dx"];
  if (const Status s = conv::args_of(call, directions, false, x, dy, args.at); !s) return s;
  args.dtype = args.at.dtype = dy.dtype;
  if (args.weights) {
    args.at.x = x.data;
    args.dw = static_cast<float*>(call["dw"].data);
    if (const Tensor* dbias = call.find("dbias")) args.dbias = static_cast<float*>(dbias->data);
    return args.at.filters() == 0 ? Status::ok() : launch(args);
  }
  args.at.w = call["w"].data;
  args.dx = x.data;
  const int64_t results =
      int64_t(args.at.batch) * args.at.groups * args.at.group_channels * args.at.in_pixels();
  return results == 0 ? Status::ok() : launch(args);
}

}  // namespace ridge::conv_backward
