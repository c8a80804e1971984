// The functions of ridge/elementwise.h for this family.
#include <cstdio>
#include <vector>

#include "operator/check.h"
#include "ops/call.h"
#include "ridge/elementwise.h"

namespace ridge {
namespace {

Call adamw_call(const AdamwTensors& t, const AdamwOptions& o) {
  const Tensor* const master = t.weight.dtype == Dtype::bf16 ? &t.master : nullptr;
  const Tensor* const tensors[] = {&t.weight, &t.grad, &t.m, &t.v, master};
  const Value values[] = {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step};
  return Call(*find_operator("adamw"), tensors, values);
}

}  // namespace

inline namespace api {

Status adamw(const AdamwTensors& tensors, const AdamwOptions& options, cudaStream_t stream) {
  Call call = adamw_call(tensors, options);
  return run(call, {}, stream);
}
Status adamw(const AdamwTensors* entries, size_t count, const AdamwOptions& options,
             cudaStream_t stream) {
  if (count == 0) return Status::ok();
  if (!entries) return Error{ops::kInvalid, "adamw: entries is null"};
  std::vector<Call> calls;
  calls.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    calls.push_back(adamw_call(entries[i], options));
    char name[48];
    std::snprintf(name, sizeof name, "adamw, entry %zu", i);
    if (const Status s = check_call(calls.back(), name); !s) return s;
  }
  Call frame = calls.front();
  frame.tensors = {};
  frame.group = calls;
  return run(frame, {}, stream);
}

}  // namespace api
}  // namespace ridge
