#include "kernels/softmax/softmax.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::softmax {

Status bind(const Call& call, Launch<Args>& launch) {
  const Op op = Op(call.op().index);
  const Tensor& in = call[is_backward(op) ? "y" : "x"];
  const Tensor& out = call[is_backward(op) ? "dx" : "out"];
  const ops::Rows rows = ops::rows_of(in);
  Args args = {.in = in.data,
               .out = out.data,
               .rows = rows.rows,
               .cols = rows.cols,
               .in_stride = rows.stride,
               .out_stride = ops::rows_of(out).stride,
               .op = op,
               .dtype = in.dtype};
  if (is_backward(op)) {
    args.dy = call["dy"].data;
    args.dy_stride = ops::rows_of(call["dy"]).stride;
  }
  return launch(args);
}

}  // namespace ridge::softmax
