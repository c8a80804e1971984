#include <string>

#include "kernels/causal_conv1d/causal_conv1d.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::causal_conv1d {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& x = call["x"];
  const bool backward = Op(call.op().index) == Op::backward;
  const int64_t width = call.size("width");
  if (width < kLeastWidth || width > kMostWidth)
    return Error{ops::kInvalid, call.op().name + ": w has width " + std::to_string(width) +
                                    "; it must be 2, 3 or 4"};
  const auto stride = [&](const char* name) { return ops::rows_of(call[name]).stride; };
  Args args = {.backward = backward,
               .silu = call.flag("silu"),
               .x = x.data,
               .w = call["w"].data,
               .bias = call.find("bias") ? call["bias"].data : nullptr,
               .batch = call.size("batch"),
               .channels = call.size("channels"),
               .length = call.size("length"),
               .width = int(width),
               .x_stride = stride("x"),
               .dtype = x.dtype};
  if (backward) {
    args.dy = call["dy"].data;
    args.dx = call["dx"].data;
    args.dw = static_cast<float*>(call["dw"].data);
    args.dbias = static_cast<float*>(call["dbias"].data);
    args.dy_stride = stride("dy");
    args.dx_stride = stride("dx");
  } else {
    args.y = call["y"].data;
    args.y_stride = stride("y");
  }
  // Without elements, the sums of the backward pass are still zeros.
  if (args.channels == 0 || (!backward && args.rows() * args.length == 0)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::causal_conv1d
