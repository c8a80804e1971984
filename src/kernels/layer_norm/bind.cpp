#include "kernels/layer_norm/layer_norm.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::layer_norm {
namespace {

// The tensor's memory, and the stride of its rows; a tensor that is left out, or that the operator
// does not have, has none.
template <class P>
void take(const Call& call, const char* name, P*& data, int64_t* stride = nullptr) {
  const Tensor* const t = call.op().tensor(name) ? call.find(name) : nullptr;
  if (!t) return;
  data = static_cast<P*>(t->data);
  if (stride) *stride = ops::rows_of(*t).stride;
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  const Op op = Op(call.op().index);
  const Tensor& x = call["x"];
  const ops::Rows rows = ops::rows_of(x);
  Args args = {.backward = is_backward(op),
               .centred = is_centred(op),
               .x = x.data,
               .rows = rows.rows,
               .cols = rows.cols,
               .x_stride = rows.stride,
               .dtype = x.dtype};
  if (!args.backward) args.epsilon = float(call.number("epsilon"));
  take(call, "residual", args.residual, &args.residual_stride);
  take(call, "gamma", args.gamma);
  take(call, "beta", args.beta);
  take(call, "sum", args.sum, &args.sum_stride);
  take(call, "y", args.y, &args.y_stride);
  take(call, "mean", args.mean);
  take(call, "rstd", args.rstd);
  take(call, "dy", args.dy, &args.dy_stride);
  take(call, "dsum", args.dsum, &args.dsum_stride);
  take(call, "dx", args.dx, &args.dx_stride);
  take(call, "dgamma", args.dgamma);
  take(call, "dbeta", args.dbeta);
  if (args.cols == 0 || (args.rows == 0 && !args.backward)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::layer_norm
