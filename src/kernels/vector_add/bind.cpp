#include "kernels/vector_add/vector_add.h"
#include "ladder/family.h"
#include "operator/slabs.h"

namespace ridge::vector_add {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &a = call["a"], &b = call["b"], &out = call["out"];
  return ops::each_slab_in_order<3>({&a, &b, &out}, [&](const ops::Slab<3>& s) {
    return launch({.a = s.data[0],
                   .b = s.data[1],
                   .out = s.data[2],
                   .rows = s.rows,
                   .cols = s.cols,
                   .a_stride = s.stride[0],
                   .b_stride = s.stride[1],
                   .out_stride = s.stride[2],
                   .a_step = s.step[0],
                   .b_step = s.step[1],
                   .out_step = s.step[2],
                   .dtype = a.dtype});
  });
}

}  // namespace ridge::vector_add
