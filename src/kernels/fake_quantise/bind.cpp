#include "core/number.h"
#include "kernels/fake_quantise/fake_quantise.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::fake_quantise {

Status bind(const Call& call, Launch<Args>& launch) {
  const int index = call.op().index;
  const Tensor &x = call["x"], &out = call[is_backward(index) ? "dx" : "y"];
  const ops::Rows rows = ops::rows_of(x);
  Args args = {.backward = is_backward(index),
               .by_row = op_of(index) == Op::rows,
               .dtype = x.dtype,
               .x = x.data,
               .out = out.data,
               .scale = static_cast<const float*>(call["scale"].data),
               .rows = rows.rows,
               .cols = rows.cols,
               .x_stride = rows.stride,
               .out_stride = ops::rows_of(out).stride};
  if (args.backward) {
    args.dy = call["dy"].data;
    args.dy_stride = ops::rows_of(call["dy"]).stride;
  }
  if (op_of(index) == Op::fp8) {
    args.to = call.integer("format") == 0 ? Dtype::e4m3 : Dtype::e5m2;
    args.high = float(largest(args.to));
    args.low = -args.high;
  } else {
    args.low = float(call.integer("low"));
    args.high = float(call.integer("high"));
    if (const Tensor* const zero = call.find("zero_point"))
      args.zero_point = static_cast<const int32_t*>(zero->data);
  }
  if (args.rows == 0 || args.cols == 0) return Status::ok();
  return launch(args);
}

}  // namespace ridge::fake_quantise
