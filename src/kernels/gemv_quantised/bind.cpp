#include "kernels/gemv_quantised/gemv_quantised.h"
#include "kernels/quantisation/of_call.h"
#include "ladder/family.h"

namespace ridge::gemv_quantised {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &x = call["x"], &q = call["q"];
  Args args = {.x = x.data, .y = call["y"].data};
  const Format& format = kFormats[call.op().index];
  if (const Status s = quantisation::weights_of(call, format, q.shape[0], q.shape[1], args.w); !s)
    return s;
  args.w.dtype = x.dtype;
  return args.w.rows == 0 ? Status::ok() : launch(args);
}

}  // namespace ridge::gemv_quantised
