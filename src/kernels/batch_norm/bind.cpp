#include "kernels/batch_norm/batch_norm.h"
#include "ladder/family.h"

namespace ridge::batch_norm {
namespace {

// A tensor that is left out, or that the operator does not have, has no memory.
template <class P>
void take(const Call& call, const char* name, P*& data) {
  const Tensor* const t = call.op().tensor(name) ? call.find(name) : nullptr;
  if (t) data = static_cast<P*>(t->data);
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Args args = {.op = Op(call.op().index),
               .outer = call.size("outer"),
               .channels = call.size("channels"),
               .inner = call.size("inner"),
               .dtype = call["x"].dtype};
  if (args.op != Op::backward) args.epsilon = float(call.number("epsilon"));
  if (args.op == Op::train) args.momentum = float(call.number("momentum"));
  take(call, "x", args.x);
  take(call, "gamma", args.gamma);
  take(call, "beta", args.beta);
  take(call, "running_mean", args.running_mean);
  take(call, "running_variance", args.running_variance);
  take(call, "mean", args.mean);
  take(call, "rstd", args.rstd);
  take(call, "y", args.y);
  take(call, "dy", args.dy);
  take(call, "dx", args.dx);
  take(call, "dgamma", args.dgamma);
  take(call, "dbeta", args.dbeta);
  // Sums of no elements are 0; there is no other result without elements.
  if (args.channels == 0 || (args.elements() == 0 && args.op != Op::backward)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::batch_norm
