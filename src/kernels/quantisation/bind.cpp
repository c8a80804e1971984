#include "kernels/quantisation/of_call.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::quantisation {

Status bind(const Call& call, Launch<Args>& launch) {
  const int op = call.op().index;
  const Format& format = format_of_op(op);
  const Tensor& x = call[is_back(op) ? "y" : "x"];
  const ops::Rows rows = ops::rows_of(x);
  Args args = {.back = is_back(op), .dtype = x.dtype, .x = x.data, .x_stride = rows.stride};
  if (const Status s = weights_of(call, format, rows.rows, rows.cols, args); !s) return s;
  if (!args.back && format.has_tensor_scale()) args.is_given = call.flag("given");
  if (args.back && (rows.rows == 0 || rows.cols == 0)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::quantisation
