// The functions of ridge/elementwise.h for this family.
#include "operator/check.h"
#include "ops/call.h"
#include "ridge/elementwise.h"

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

}  // namespace

inline namespace api {

Status activation(Activation kind, ActivationParameters parameters, const Tensor& x,
                  const Tensor& y, cudaStream_t stream) {
  return run_activation(false, kind, parameters, {&x, &y}, stream);
}
Status activation_backward(Activation kind, ActivationParameters parameters, const Tensor& x,
                           const Tensor& dy, const Tensor& dx, cudaStream_t stream) {
  return run_activation(true, kind, parameters, {&x, &dy, &dx}, stream);
}

}  // namespace api
}  // namespace ridge
