#include "ridge/elementwise.h"

#include "kernels/vector_add/vector_add.h"
#include "ops/check.h"

namespace ridge {

using ops::Check;

Status add(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  Check check("add");
  check.valid({"a", a}).valid({"b", b}).valid({"out", out});
  check.dtype({"a", a}, {Dtype::f32, Dtype::f16, Dtype::bf16})
      .same_dtype({"b", b}, {"a", a})
      .same_dtype({"out", out}, {"a", a});
  check.same_shape({"b", b}, {"a", a}).same_shape({"out", out}, {"a", a});
  check.no_partial_overlap({"out", out}, {"a", a}).no_partial_overlap({"out", out}, {"b", b});
  if (!check) return check.status();
  if (out.elements() == 0) return Status::ok();
  return ops::each_slab<3>({&a, &b, &out}, [&](const ops::Slab<3>& s) {
    return ops::dispatch("add", vector_add::rungs(),
                         vector_add::Args{.a = s.data[0],
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
                                          .dtype = a.dtype},
                         stream);
  });
}

}  // namespace ridge
