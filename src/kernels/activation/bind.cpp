#include "kernels/activation/activation.h"
#include "ladder/family.h"
#include "operator/slabs.h"
#include "ridge/elementwise.h"

namespace ridge::activation {

static_assert(int(Activation::softplus) == int(Function::softplus));  // the two lists are alike

Status bind(const Call& call, Launch<Args>& launch) {
  Args args = {.function = function_of(call.op().index),
               .backward = is_backward(call.op().index),
               .dtype = call["x"].dtype,
               // In the order of the description; not all functions have both, or one.
               .alpha = float(call.parameters[0].number),
               .beta = float(call.parameters[1].number)};
  const auto set = [&](const auto& slab) {
    args.rows = slab.rows;
    args.cols = slab.cols;
    args.x = slab.data[0];
    args.x_stride = slab.stride[0];
    args.x_step = slab.step[0];
    args.out = slab.data.back();
    args.out_stride = slab.stride.back();
    args.out_step = slab.step.back();
  };
  if (!args.backward)
    return ops::each_slab_in_order<2>({&call["x"], &call["y"]}, [&](const ops::Slab<2>& s) {
      set(s);
      return launch(args);
    });
  return ops::each_slab_in_order<3>({&call["x"], &call["dy"], &call["dx"]},
                                    [&](const ops::Slab<3>& s) {
                                      set(s);
                                      args.dy = s.data[1];
                                      args.dy_stride = s.stride[1];
                                      args.dy_step = s.step[1];
                                      return launch(args);
                                    });
}

}  // namespace ridge::activation
