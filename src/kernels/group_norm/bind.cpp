#include "kernels/group_norm/group_norm.h"
#include "ladder/family.h"

namespace ridge::group_norm {
namespace {

// A tensor that is left out, or that the operator does not have, has no memory.
template <class P>
void take(const Call& call, const char* name, P*& data) {
  const Tensor* const t = call.op().tensor(name) ? call.find(name) : nullptr;
  if (t) data = static_cast<P*>(t->data);
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Args args = {.backward = call.op().index == 1,
               .n = call.size("n"),
               .groups = call.size("groups"),
               .depth = call.size("depth"),
               .inner = call.size("inner"),
               .dtype = call["x"].dtype};
  if (!args.backward) args.epsilon = float(call.number("epsilon"));
  take(call, "x", args.x);
  take(call, "gamma", args.gamma);
  take(call, "beta", args.beta);
  take(call, "y", args.y);
  take(call, "mean", args.mean);
  take(call, "rstd", args.rstd);
  take(call, "dy", args.dy);
  take(call, "dx", args.dx);
  take(call, "dgamma", args.dgamma);
  take(call, "dbeta", args.dbeta);
  // Sums of no elements are 0; there is no other result without elements.
  if (args.channels() == 0 || (args.elements() == 0 && !args.backward)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::group_norm
