#include "kernels/selective_scan/selective_scan.h"
#include "ladder/family.h"

namespace ridge::selective_scan {
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
               .softplus = call.flag("softplus"),
               .batch = call.size("batch"),
               .dim = call.size("dim"),
               .state = call.size("state"),
               .length = call.size("length"),
               .dtype = call["u"].dtype};
  if (args.state > kMostState)
    return Error{ops::kInvalid, call.op().name + ": a has a state of " +
                                    std::to_string(args.state) + " numbers, and at most " +
                                    std::to_string(kMostState) + " are possible"};
  take(call, "u", args.u);
  take(call, "delta", args.delta);
  take(call, "a", args.a);
  take(call, "b", args.b);
  take(call, "c", args.c);
  take(call, "d", args.d);
  take(call, "z", args.z);
  take(call, "delta_bias", args.delta_bias);
  take(call, "y", args.y);
  take(call, "last_state", args.last_state);
  take(call, "dy", args.dy);
  take(call, "du", args.du);
  take(call, "ddelta", args.ddelta);
  take(call, "da", args.da);
  take(call, "db", args.db);
  take(call, "dc", args.dc);
  take(call, "dd", args.dd);
  take(call, "dz", args.dz);
  take(call, "ddelta_bias", args.ddelta_bias);
  if (args.dz && !args.z)
    return Error{ops::kInvalid, call.op().name + ": dz is the gradient of z, which is left out"};
  const bool has_result = args.backward || args.length > 0 || args.last_state;
  if (!has_result || (args.channels() == 0 && !args.backward)) return Status::ok();
  return launch(args);
}

}  // namespace ridge::selective_scan
