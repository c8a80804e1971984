#include <limits>

#include "kernels/topk/topk.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::topk {

Status bind(const Call& call, Launch<Args>& launch) {
  const ops::Rows x = ops::rows_of(call["x"]), values = ops::rows_of(call["values"]),
                  indices = ops::rows_of(call["indices"]);
  const int64_t k = call.size("k");
  if (k > kMostK)
    return Error{ops::kInvalid, "topk: values has k = " + std::to_string(k) +
                                    " columns, and k must be at most " + std::to_string(kMostK)};
  if (k > x.cols)
    return Error{ops::kInvalid, "topk: values has k = " + std::to_string(k) +
                                    " columns, and x has only " + std::to_string(x.cols)};
  if (x.cols > std::numeric_limits<int32_t>::max())
    return Error{ops::kInvalid, "topk: x has more columns than an i32 index can name"};
  if (k == 0 || x.rows == 0) return Status::ok();
  return launch({.x = call["x"].data,
                 .values = call["values"].data,
                 .indices = static_cast<int32_t*>(call["indices"].data),
                 .rows = x.rows,
                 .cols = x.cols,
                 .k = int(k),
                 .x_stride = x.stride,
                 .values_stride = values.stride,
                 .indices_stride = indices.stride,
                 .largest = call.flag("largest"),
                 .sorted = call.flag("sorted"),
                 .dtype = call["x"].dtype});
}

}  // namespace ridge::topk
