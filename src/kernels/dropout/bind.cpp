#include "kernels/dropout/dropout.h"
#include "ladder/family.h"
#include "operator/slabs.h"

namespace ridge::dropout {

// In the order of the elements' numbers, which the mask follows from.
Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &in = *call.tensors[0], &out = *call.tensors[1];
  int64_t first = 0;
  return ops::each_slab<2>({&in, &out}, [&](const ops::Slab<2>& s) {
    const Status status = launch({.x = s.data[0],
                                  .out = s.data[1],
                                  .rows = s.rows,
                                  .cols = s.cols,
                                  .x_stride = s.stride[0],
                                  .out_stride = s.stride[1],
                                  .x_step = s.step[0],
                                  .out_step = s.step[1],
                                  .first = first,
                                  .dtype = in.dtype,
                                  .p = call.number("probability"),
                                  .seed = uint64_t(call.integer("seed")),
                                  .offset = uint64_t(call.integer("offset"))});
    first += s.rows * s.cols;
    return status;
  });
}

}  // namespace ridge::dropout
