#include "kernels/recurrence/recurrence.h"
#include "ladder/family.h"

namespace ridge::recurrence {
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
               .length = call.size("length"),
               .inner = call.size("inner")};
  if (args.op == Op::gae) {
    args.gamma = float(call.number("gamma"));
    args.lambda = float(call.number("decay"));
  } else {
    args.dtype = call["a"].dtype;
  }
  take(call, "a", args.a);
  take(call, "b", args.b);
  take(call, "initial", args.initial);
  take(call, "h", args.h);
  take(call, "dh", args.dh);
  take(call, "da", args.da);
  take(call, "db", args.db);
  take(call, "dinitial", args.dinitial);
  take(call, "rewards", args.rewards);
  take(call, "values", args.values);
  take(call, "done", args.done);
  take(call, "next_value", args.next_value);
  take(call, "advantages", args.advantages);
  take(call, "returns", args.returns);
  if (args.rows() == 0 || (args.length == 0 && !args.dinitial)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::recurrence
