#include "kernels/quantisation/quantisation.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::quantisation {

Status bind(const Call& call, Launch<Args>& launch) {
  const int op = call.op().index;
  const Format& format = format_of_op(op);
  const Tensor &x = call[is_back(op) ? "y" : "x"], &q = call["q"], &scales = call["scales"];
  const ops::Rows rows = ops::rows_of(x);
  Args args = {.back = is_back(op),
               .rule = format.rule,
               .dtype = x.dtype,
               .element = q.dtype,
               .x = x.data,
               .q = q.data,
               .scales = scales.data,
               .is_whole = format.is_whole_tensor(),
               .rows = rows.rows,
               .cols = rows.cols,
               .x_stride = rows.stride,
               .blocks = blocks_of(format, rows.rows, rows.cols),
               .largest = float(largest(q.dtype)),
               .power = power_below_largest(q.dtype)};
  const auto refused = [&](const std::string& why) {
    return Error{ops::kInvalid, call.op().name + ": " + why};
  };
  if (is_packed(q.dtype) && rows.rows > 1 && rows.cols % 2 != 0)
    return refused("q has " + std::to_string(rows.cols) +
                   " columns, but two elements share a byte, so rows need an even number of them; "
                   "add a column of zeros");
  if (!args.back && format.has_tensor_scale()) args.is_given = call.flag("given");
  if (format.rule == Rule::shared) args.second = static_cast<float*>(call["tensor_scale"].data);
  if (format.rule == Rule::mean) {
    const Tensor& groups = call["group_scales"];
    const int64_t wanted = groups_of(args.blocks.count);
    if (groups.elements() != wanted)
      return refused("group_scales has " + std::to_string(groups.elements()) + " elements; " +
                     std::to_string(args.blocks.count) + " scales make " + std::to_string(wanted) +
                     " groups of 256");
    args.second = static_cast<float*>(groups.data);
    args.mean = static_cast<float*>(call["mean"].data);
  }
  if (args.back && (rows.rows == 0 || rows.cols == 0)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::quantisation
