// From the tensors of a call that hold a quantised matrix to the arguments of kernels.
#pragma once

#include "kernels/quantisation/quantisation.h"
#include "operator/call.h"
#include "operator/check.h"

namespace ridge::quantisation {

inline Status weights_of(const Call& call, const Format& format, int64_t rows, int64_t cols,
                         Args& args) {
  const Tensor& q = call["q"];
  args.rule = format.rule;
  args.element = q.dtype;
  args.q = q.data;
  args.scales = call["scales"].data;
  args.is_whole = format.is_whole_tensor();
  args.rows = rows;
  args.cols = cols;
  args.blocks = blocks_of(format, rows, cols);
  args.largest = float(largest(q.dtype));
  args.power = power_below_largest(q.dtype);
  const auto refused = [&](const std::string& why) {
    return Error{ops::kInvalid, call.op().name + ": " + why};
  };
  if (is_packed(q.dtype) && rows > 1 && cols % 2 != 0)
    return refused("q has " + std::to_string(cols) +
                   " columns, but two elements share a byte, so rows need an even number of them; "
                   "add a column of zeros");
  if (format.rule == Rule::shared) args.second = static_cast<float*>(call["tensor_scale"].data);
  if (format.rule != Rule::mean) return Status::ok();
  const Tensor& groups = call["group_scales"];
  const int64_t wanted = groups_of(args.blocks.count);
  if (groups.elements() != wanted)
    return refused("group_scales has " + std::to_string(groups.elements()) +
                   " elements; it has to have " + std::to_string(wanted) + ", one per 256 of the " +
                   std::to_string(args.blocks.count) + " scales");
  args.second = static_cast<float*>(groups.data);
  args.mean = static_cast<float*>(call["mean"].data);
  return Status::ok();
}

}  // namespace ridge::quantisation
