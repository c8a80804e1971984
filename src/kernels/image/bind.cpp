#include "kernels/image/image.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::image {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &in = call["in"], &out = call["out"];
  return launch({.op = Op(call.op().index),
                 .in = in.data,
                 .out = out.data,
                 .height = call.size("height"),
                 .width = call.size("width"),
                 .in_stride = ops::rows_of(in, in.rank - 1).stride,
                 .out_stride = ops::rows_of(out, out.rank - 1).stride,
                 .dtype = in.dtype});
}

}  // namespace ridge::image
