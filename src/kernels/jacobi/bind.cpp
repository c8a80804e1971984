#include "kernels/jacobi/jacobi.h"
#include "ladder/family.h"

namespace ridge::jacobi {

Status bind(const Call& call, Launch<Args>& launch) {
  const bool is_3d = Op(call.op().index) == Op::jacobi3d;
  const Args args = {.is_3d = is_3d,
                     .x = static_cast<const float*>(call["x"].data),
                     .y = static_cast<float*>(call["y"].data),
                     .depth = is_3d ? call.size("depth") : 1,
                     .height = call.size("height"),
                     .width = call.size("width"),
                     .iterations = call.integer("iterations"),
                     .dtype = call["x"].dtype};
  return args.count() == 0 ? Status::ok() : launch(args);
}

}  // namespace ridge::jacobi
