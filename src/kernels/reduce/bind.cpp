#include <cmath>
#include <cstdint>

#include "core/text.h"
#include "kernels/reduce/reduce.h"
#include "ladder/family.h"

namespace ridge::reduce {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& x = call["x"];
  Args args = {.kind = Kind(call.op().index),
               .x = x.data,
               .out = call["out"].data,
               .n = call.size("n"),
               .dtype = x.dtype};
  if (args.kind == Kind::dot) args.y = call["y"].data;
  if (args.kind == Kind::count_equal) {
    const double value = args.value = call.number("value");
    const bool is_i32 = value == std::floor(value) && value >= INT32_MIN && value <= INT32_MAX;
    if (x.dtype == Dtype::i32 && !is_i32)
      return Error{ops::kInvalid,
                   call.op().name + ": value is " + number_text(value) + ", which no i32 is"};
  }
  return launch(args);
}

}  // namespace ridge::reduce
