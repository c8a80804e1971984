#include "kernels/normalize/normalize.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::normalize {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &x = call["x"], &out = call["out"];
  Args args = {.kind = Kind(call.op().index), .x = x.data, .out = out.data, .dtype = x.dtype};
  if (args.kind == Kind::clip) {  // without gaps, so all is one row
    args.norm = static_cast<float*>(call["norm"].data);
    args.max_norm = float(call.number("max_norm"));
    args.rows = 1;
    args.cols = args.x_stride = args.out_stride = call.size("n");
  } else {
    const ops::Rows from = ops::rows_of(x), to = ops::rows_of(out);
    args.epsilon = float(call.number("epsilon"));
    args.rows = from.rows;
    args.cols = from.cols;
    args.x_stride = from.stride;
    args.out_stride = to.stride;
  }
  return launch(args);
}

}  // namespace ridge::normalize
