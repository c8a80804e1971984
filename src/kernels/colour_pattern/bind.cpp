#include "kernels/colour_pattern/colour_pattern.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::colour_pattern {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& out = call["out"];
  return launch({.out = out.data,
                 .frames = call.size("frames"),
                 .height = call.size("height"),
                 .width = call.size("width"),
                 .stride = ops::rows_of(out, 2).stride,
                 .dtype = out.dtype});
}

}  // namespace ridge::colour_pattern
