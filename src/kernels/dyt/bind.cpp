#include "kernels/dyt/dyt.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::dyt {

Status bind(const Call& call, Launch<Args>& launch) {
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
