#include "kernels/dyt/dyt.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::dyt {

namespace {

Status bind_backward(const Call& call, Launch<Args>& launch) {
  const Tensor& x = call["x"];
  const ops::Rows in = ops::rows_of(x), from = ops::rows_of(call["dy"]),
                  to = ops::rows_of(call["dx"]);
  return launch({.backward = true,
                 .x = x.data,
                 .alpha = static_cast<const float*>(call["alpha"].data),
                 .gamma = call["gamma"].data,
                 .dy = call["dy"].data,
                 .dx = call["dx"].data,
                 .dalpha = static_cast<float*>(call["dalpha"].data),
                 .dgamma = static_cast<float*>(call["dgamma"].data),
                 .dbeta = static_cast<float*>(call["dbeta"].data),
                 .rows = in.rows,
                 .cols = in.cols,
                 .x_stride = in.stride,
                 .dy_stride = from.stride,
                 .dx_stride = to.stride,
                 .dtype = x.dtype});
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  if (call.op().name == "dyt_backward") return bind_backward(call, launch);
  const Tensor &x = call["x"], &y = call["y"];
  if (x.elements() == 0) return Status::ok();
  const ops::Rows in = ops::rows_of(x), out = ops::rows_of(y);
  return launch({.x = x.data,
                 .alpha = static_cast<const float*>(call["alpha"].data),
                 .gamma = call["gamma"].data,
                 .beta = call["beta"].data,
                 .y = y.data,
                 .rows = in.rows,
                 .cols = in.cols,
                 .x_stride = in.stride,
                 .y_stride = out.stride,
                 .dtype = x.dtype});
}

}  // namespace ridge::dyt
