#include "kernels/segmented_reduce/segmented_reduce.h"
#include "ladder/family.h"

namespace ridge::segmented_reduce {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &x = call["x"], &offsets = call["offsets"];
  return launch({.kind = Kind(call.op().index),
                 .x = x.data,
                 .offsets = offsets.data,
                 .out = call["out"].data,
                 .n = call.size("n"),
                 .segments = call.size("segments"),
                 .dtype = x.dtype,
                 .offset_dtype = offsets.dtype});
}

}  // namespace ridge::segmented_reduce
