#include <cmath>
#include <limits>

#include "kernels/histogram/histogram.h"
#include "ladder/family.h"

namespace ridge::histogram {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& x = call["x"];
  Args args = {.x = x.data,
               .counts = static_cast<uint32_t*>(call["counts"].data),
               .n = x.elements(),
               .bins = int(std::min<int64_t>(call.size("bins"), std::numeric_limits<int>::max())),
               .dtype = x.dtype};
  const std::string& name = call.op().name;
  if (args.n > int64_t(std::numeric_limits<uint32_t>::max()))
    return Error{ops::kInvalid, name + ": x has " + std::to_string(args.n) +
                                    " elements, and counts of u32 hold at most 4294967295"};
  if (call.size("bins") > args.bins)
    return Error{ops::kInvalid, name + ": counts has more than 2147483647 bins"};
  if (call.op().index == kEven) {
    args.lower = float(call.number("lower"));
    args.upper = float(call.number("upper"));
    if (!(args.upper > args.lower) || !std::isfinite(args.upper - args.lower))
      return Error{ops::kInvalid, name + ": upper must be above lower, both finite in f32"};
  }
  if (args.bins == 0) return Status::ok();
  return launch(args);
}

}  // namespace ridge::histogram
