#include "operator/description.h"

namespace ridge::recurrence {
namespace {

TensorDef along(const char* name, Role role, const char* meaning, Formats formats = {}) {
  TensorDef t = {.name = name,
                 .role = role,
                 .shape = "outer..., length, inner...",
                 .formats = formats,
                 .layout = Layout::contiguous,
                 .meaning = meaning};
  if (t.formats.empty()) t.like = "a";
  return t;
}
TensorDef per_chain(const char* name, Role role, const char* meaning, Formats formats = {}) {
  TensorDef t = along(name, role, meaning, std::move(formats));
  t.shape = "outer..., inner...";
  t.optional = t.on_request = true;
  return t;
}

OperatorDef chain(const char* name, const char* formula) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"outer", "dimensions before the axis"},
                         {"length", "steps of a chain"},
                         {"inner", "dimensions behind the axis"}},
          .tensors = {},
          .parameters = {{.name = "axis",
                          .type = ParameterType::integer,
                          .otherwise = -1,
                          .meaning = "the dimension of the steps; negative: from the end"}}};
}

}  // namespace

// In the order of recurrence::Op.
Operators operators() {
  OperatorDef forward = chain("linear_recurrence", "h[t] = a[t] h[t-1] + b[t], along an axis");
  forward.tensors = {along("a", Role::in, "the factor of each step", kFloats),
                     along("b", Role::in, "the summand of each step"),
                     per_chain("initial", Role::in, "h before the first step; left out: 0"),
                     along("h", Role::out, "")};
  forward.backward = "linear_recurrence_backward";
  forward.notes =
      "h is f32 from step to step, whatever its format; only what is stored is rounded.";

  OperatorDef backward =
      chain("linear_recurrence_backward",
            "g[t] = dh[t] + a[t+1] g[t+1], db = g, da[t] = g[t] h[t-1], dinitial = a[0] g[0]");
  backward.tensors = {along("a", Role::in, "as the forward pass had it", kFloats),
                      along("h", Role::in, "as the forward pass gave it"),
                      per_chain("initial", Role::in, "as the forward pass had it"),
                      along("dh", Role::in, "the gradient of h"),
                      along("da", Role::out, "the gradient of a"),
                      along("db", Role::out, "the gradient of b"),
                      per_chain("dinitial", Role::out, "the gradient of initial", {Dtype::f32})};
  backward.aliases = {"linear_recurrence_bwd"};

  const Formats f32 = {Dtype::f32};
  OperatorDef gae =
      chain("gae",
            "advantages[t] = delta[t] + gamma decay (1 - done[t]) advantages[t+1], delta[t] = "
            "rewards[t] + gamma (1 - done[t]) values[t+1] - values[t]");
  gae.tensors = {along("rewards", Role::in, "what step t gave", f32),
                 along("values", Role::in, "the value of the state that step t starts from", f32),
                 along("done", Role::in, "not 0: the episode ends with step t", {Dtype::u8}),
                 per_chain("next_value", Role::in,
                           "the value of the state behind the last step; left out: 0", f32),
                 along("advantages", Role::out, "", f32),
                 along("returns", Role::out, "advantages + values", f32)};
  gae.tensors.back().optional = gae.tensors.back().on_request = true;
  gae.parameters.push_back(
      {.name = "gamma", .otherwise = 0.99, .least = 0, .most = 1, .meaning = "discount"});
  gae.parameters.push_back({.name = "decay",
                            .otherwise = 0.95,
                            .least = 0,
                            .most = 1,
                            .meaning = "how far advantages look ahead: lambda"});
  gae.notes =
      "Generalised advantage estimation. No value crosses the end of an episode, and no advantage "
      "that is finite.";
  return {forward, backward, gae};
}

}  // namespace ridge::recurrence
