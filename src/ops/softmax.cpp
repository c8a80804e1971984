#include "ridge/softmax.h"

#include "kernels/softmax/softmax.h"
#include "ops/layout.h"

namespace ridge {
namespace {

using ops::Check;
using ops::Named;
using softmax::Op;

Status forward(const char* name, Op op, const Tensor& x, const Tensor& out, cudaStream_t stream) {
  Check check(name);
  const Named in = {"x", x}, result = {"out", out};
  check.valid(in).valid(result);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16}).same_dtype(result, in);
  check.same_shape(result, in).no_partial_overlap(result, in);
  const ops::Rows rows = ops::rows_of(check, in, false), to = ops::rows_of(check, result, true);
  if (!check) return check.status();
  if (x.elements() == 0) return Status::ok();
  return ops::dispatch(name, softmax::rungs(),
                       softmax::Args{.in = x.data,
                                     .out = out.data,
                                     .rows = rows.rows,
                                     .cols = rows.cols,
                                     .in_stride = rows.stride,
                                     .out_stride = to.stride,
                                     .op = op,
                                     .dtype = x.dtype},
                       stream);
}

Status backward(const char* name, Op op, const Tensor& y, const Tensor& dy, const Tensor& dx,
                cudaStream_t stream) {
  Check check(name);
  const Named in = {"y", y}, gradient = {"dy", dy}, result = {"dx", dx};
  check.valid(in).valid(gradient).valid(result);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16})
      .same_dtype(gradient, in)
      .same_dtype(result, in);
  check.same_shape(gradient, in).same_shape(result, in);
  check.no_partial_overlap(result, in).no_partial_overlap(result, gradient);
  const ops::Rows rows = ops::rows_of(check, in, false),
                  from = ops::rows_of(check, gradient, false),
                  to = ops::rows_of(check, result, true);
  if (!check) return check.status();
  if (y.elements() == 0) return Status::ok();
  return ops::dispatch(name, softmax::rungs(),
                       softmax::Args{.in = y.data,
                                     .dy = dy.data,
                                     .out = dx.data,
                                     .rows = rows.rows,
                                     .cols = rows.cols,
                                     .in_stride = rows.stride,
                                     .dy_stride = from.stride,
                                     .out_stride = to.stride,
                                     .op = op,
                                     .dtype = y.dtype},
                       stream);
}

}  // namespace

inline namespace api {

Status softmax(const Tensor& x, const Tensor& out, cudaStream_t stream) {
  return forward("softmax", Op::softmax, x, out, stream);
}
Status log_softmax(const Tensor& x, const Tensor& out, cudaStream_t stream) {
  return forward("log_softmax", Op::log_softmax, x, out, stream);
}
Status softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx, cudaStream_t stream) {
  return backward("softmax_backward", Op::softmax_bwd, y, dy, dx, stream);
}
Status log_softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx,
                            cudaStream_t stream) {
  return backward("log_softmax_backward", Op::log_softmax_bwd, y, dy, dx, stream);
}

}  // namespace api
}  // namespace ridge
