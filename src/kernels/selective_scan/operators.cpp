#include "operator/description.h"

namespace ridge::selective_scan {
namespace {

TensorDef tensor(const char* name, Role role, const char* shape, const char* meaning,
                 bool on_request = false) {
  return {.name = name,
          .role = role,
          .shape = shape,
          .like = "u",
          .layout = Layout::contiguous,
          .optional = on_request,
          .on_request = on_request,
          .meaning = meaning};
}
TensorDef weight(const char* name, Role role, const char* shape, const char* meaning,
                 bool on_request = false) {
  TensorDef t = tensor(name, role, shape, meaning, on_request);
  t.like = {};
  t.formats = {Dtype::f32};
  return t;
}

constexpr const char* kSteps = "batch, dim, length";
constexpr const char* kShared = "batch, state, length";

std::vector<TensorDef> inputs() {
  return {{.name = "u",
           .shape = kSteps,
           .formats = kFloats,
           .layout = Layout::contiguous,
           .meaning = "the input"},
          tensor("delta", Role::in, kSteps, "the length of each step"),
          weight("a", Role::in, "dim, state", "the decay of each state, usually negative"),
          tensor("b", Role::in, kShared, "how the input enters the state"),
          tensor("c", Role::in, kShared, "how the state leaves"),
          weight("d", Role::in, "dim", "how the input passes by the state; left out: 0", true),
          tensor("z", Role::in, kSteps, "a gate: the output is multiplied by silu(z)", true),
          weight("delta_bias", Role::in, "dim", "added to delta; left out: 0", true)};
}
OperatorDef scan(const char* name, const char* formula) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"batch"},
                         {"dim", "channels"},
                         {"state", "numbers that a channel remembers, at most 256"},
                         {"length", "steps"}},
          .tensors = inputs(),
          .parameters = {{.name = "softplus",
                          .type = ParameterType::flag,
                          .otherwise = 1,
                          .meaning = "whether delta becomes softplus(delta)"}}};
}

}  // namespace

// selective_scan, then its gradients.
Operators operators() {
  OperatorDef forward =
      scan("selective_scan",
           "h[t] = exp(s[t] a) h[t-1] + s[t] b[t] u[t], y[t] = (c[t] . h[t] + d u[t]) silu(z[t]), "
           "where s = softplus(delta + delta_bias)");
  forward.tensors.push_back(tensor("y", Role::out, kSteps, ""));
  forward.tensors.push_back(
      weight("last_state", Role::out, "batch, dim, state", "h behind the last step", true));
  forward.backward = "selective_scan_backward";
  forward.notes =
      "The scan of Mamba (Gu and Dao, 2023), with one b and one c for all channels of a "
      "sample. The state is f32, whatever the format of u.";

  OperatorDef backward = scan("selective_scan_backward",
                              "the gradients of selective_scan; h is computed anew, not stored");
  backward.tensors.push_back(tensor("dy", Role::in, kSteps, "the gradient of y"));
  backward.tensors.push_back(tensor("du", Role::out, kSteps, "the gradient of u"));
  backward.tensors.push_back(tensor("ddelta", Role::out, kSteps, "the gradient of delta"));
  backward.tensors.push_back(weight("da", Role::out, "dim, state", "the gradient of a"));
  backward.tensors.push_back(tensor("db", Role::out, kShared, "the gradient of b"));
  backward.tensors.push_back(tensor("dc", Role::out, kShared, "the gradient of c"));
  backward.tensors.push_back(weight("dd", Role::out, "dim", "the gradient of d", true));
  backward.tensors.push_back(tensor("dz", Role::out, kSteps, "the gradient of z", true));
  backward.tensors.push_back(
      weight("ddelta_bias", Role::out, "dim", "the gradient of delta_bias", true));
  backward.aliases = {"selective_scan_bwd"};
  backward.notes = "Sums are made in the same order in every run.";
  return {forward, backward};
}

}  // namespace ridge::selective_scan
