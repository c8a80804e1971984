#include "ridge/elementwise.h"

#include <cstdio>

#include "operator/check.h"
#include "ops/call.h"

namespace ridge {
namespace {

Status run_activation(bool backward, Activation kind, ActivationParameters parameters,
                      std::initializer_list<const Tensor*> tensors, cudaStream_t stream) {
  const auto& all = find_family("activation")->operators;  // as in the enum, forward and backward
  const size_t kinds = all.size() / 2;
  if (size_t(kind) >= kinds)
    return Error{ops::kInvalid, std::string(backward ? "activation_backward" : "activation") +
                                    ": there is no activation " + std::to_string(int(kind))};
  const OperatorDef& op = *all[size_t(kind) + (backward ? kinds : 0)];
  const Value values[] = {parameters.alpha, parameters.beta};
  Call call(op, {tensors.begin(), tensors.size()}, std::span(values).first(op.parameters.size()));
  return run(call, {}, stream);
}

Call adamw_call(const AdamwTensors& t, const AdamwOptions& o) {
  const Tensor* const master = t.weight.dtype == Dtype::bf16 ? &t.master : nullptr;
  const Tensor* const tensors[] = {&t.weight, &t.grad, &t.m, &t.v, master};
  const Value values[] = {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.step};
  return Call(*find_operator("adamw"), tensors, values);
}

// Keys may be left out.
Status run_rope(const char* op, const Tensor* q, const Tensor* k, const Tensor* q_out,
                const Tensor* k_out, const RopeOptions& o, cudaStream_t stream) {
  const bool has_table = o.cos.data || o.sin.data;
  const Tensor *cos = has_table ? &o.cos : nullptr, *sin = has_table ? &o.sin : nullptr;
  return ops::call(op, {q, k, cos, sin, q_out, k_out},
                   {int64_t(o.interleaved), o.first_position, o.base}, {}, stream);
}

}  // namespace

inline namespace api {

Status add(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  return ops::call("add", {&a, &b, &out}, {}, {}, stream);
}

Status activation(Activation kind, ActivationParameters parameters, const Tensor& x,
                  const Tensor& y, cudaStream_t stream) {
  return run_activation(false, kind, parameters, {&x, &y}, stream);
}
Status activation_backward(Activation kind, ActivationParameters parameters, const Tensor& x,
                           const Tensor& dy, const Tensor& dx, cudaStream_t stream) {
  return run_activation(true, kind, parameters, {&x, &dy, &dx}, stream);
}

Status swiglu(const Tensor& gate, const Tensor& up, const Tensor& y, cudaStream_t stream) {
  return ops::call("swiglu", {&gate, &up, &y}, {}, {}, stream);
}
Status swiglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy, const Tensor& dgate,
                       const Tensor& dup, cudaStream_t stream) {
  return ops::call("swiglu_backward", {&gate, &up, &dy, &dgate, &dup}, {}, {}, stream);
}
Status swiglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return ops::call("swiglu_packed", {&x, &y}, {}, {}, stream);
}
Status swiglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                              cudaStream_t stream) {
  return ops::call("swiglu_packed_backward", {&x, &dy, &dx}, {}, {}, stream);
}
Status geglu(const Tensor& gate, const Tensor& up, const Tensor& y, cudaStream_t stream) {
  return ops::call("geglu", {&gate, &up, &y}, {}, {}, stream);
}
Status geglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy, const Tensor& dgate,
                      const Tensor& dup, cudaStream_t stream) {
  return ops::call("geglu_backward", {&gate, &up, &dy, &dgate, &dup}, {}, {}, stream);
}
Status geglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return ops::call("geglu_packed", {&x, &y}, {}, {}, stream);
}
Status geglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                             cudaStream_t stream) {
  return ops::call("geglu_packed_backward", {&x, &dy, &dx}, {}, {}, stream);
}

Status dropout(const Tensor& x, const Tensor& y, double probability, uint64_t seed, uint64_t offset,
               cudaStream_t stream) {
  return ops::call("dropout", {&x, &y}, {probability, int64_t(seed), int64_t(offset)}, {}, stream);
}
Status dropout_backward(const Tensor& dy, const Tensor& dx, double probability, uint64_t seed,
                        uint64_t offset, cudaStream_t stream) {
  return ops::call("dropout_backward", {&dy, &dx}, {probability, int64_t(seed), int64_t(offset)},
                   {}, stream);
}

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

Status rope(const Tensor& q, const Tensor& q_out, const RopeOptions& options, cudaStream_t stream) {
  return run_rope("rope", &q, nullptr, &q_out, nullptr, options, stream);
}
Status rope_backward(const Tensor& dq_out, const Tensor& dq, const RopeOptions& options,
                     cudaStream_t stream) {
  return run_rope("rope_backward", &dq_out, nullptr, &dq, nullptr, options, stream);
}
Status rope(const Tensor& q, const Tensor& k, const Tensor& q_out, const Tensor& k_out,
            const RopeOptions& options, cudaStream_t stream) {
  return run_rope("rope", &q, &k, &q_out, &k_out, options, stream);
}
Status rope_backward(const Tensor& dq_out, const Tensor& dk_out, const Tensor& dq, const Tensor& dk,
                     const RopeOptions& options, cudaStream_t stream) {
  return run_rope("rope_backward", &dq_out, &dk_out, &dq, &dk, options, stream);
}

}  // namespace api
}  // namespace ridge
