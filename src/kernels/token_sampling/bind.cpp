#include <limits>

#include "kernels/token_sampling/token_sampling.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::token_sampling {

Status bind(const Call& call, Launch<Args>& launch) {
  constexpr int64_t kMostCols = 1 << 20;  // sums of so many weights fit 64 bits
  const ops::Rows rows = ops::rows_of(call["logits"]);
  if (rows.cols > kMostCols)
    return Error{ops::kInvalid, "sample: logits has " + std::to_string(rows.cols) +
                                    " columns, and there may be at most " +
                                    std::to_string(kMostCols)};
  if (rows.rows > std::numeric_limits<int32_t>::max())
    return Error{ops::kInvalid, "sample: logits has more rows than a grid has blocks"};
  if (rows.cols == 0 && rows.rows > 0)
    return Error{ops::kInvalid, "sample: logits has no columns, so there is no token"};
  if (rows.rows == 0) return Status::ok();
  return launch({.logits = call["logits"].data,
                 .tokens = static_cast<int32_t*>(call["tokens"].data),
                 .rows = rows.rows,
                 .cols = rows.cols,
                 .stride = rows.stride,
                 .temperature = float(call.number("temperature")),
                 .top_k = call.integer("top_k"),
                 .top_p = call.number("top_p"),
                 .min_p = call.number("min_p"),
                 .seed = uint64_t(call.integer("seed")),
                 .offset = uint64_t(call.integer("offset")),
                 .dtype = call["logits"].dtype});
}

}  // namespace ridge::token_sampling
