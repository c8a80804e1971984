#include "operator/description.h"

namespace ridge::batch_norm {
namespace {

TensorDef tensor(const char* name, Role role, const char* meaning,
                 std::vector<std::string> may_be = {}) {
  return {.name = name,
          .role = role,
          .shape = "outer..., channels, inner...",
          .like = "x",
          .layout = Layout::contiguous,
          .may_be = std::move(may_be),
          .meaning = meaning};
}
TensorDef weight(const char* name, const char* meaning) {
  return {.name = name,
          .shape = "channels",
          .like = "x",
          .layout = Layout::contiguous,
          .optional = true,
          .meaning = meaning};
}
// f32, whatever x is.
TensorDef statistic(const char* name, Role role, const char* meaning, bool on_request = false) {
  return {.name = name,
          .role = role,
          .shape = "channels",
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .optional = on_request,
          .on_request = on_request,
          .meaning = meaning};
}

OperatorDef of_channels(const char* name, const char* formula) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"outer", "dimensions before the channels"},
                         {"channels"},
                         {"inner", "dimensions behind the channels"}},
          .tensors = {{.name = "x",
                       .shape = "outer..., channels, inner...",
                       .formats = kFloats,
                       .layout = Layout::contiguous}},
          .parameters = {{.name = "axis",
                          .type = ParameterType::integer,
                          .otherwise = 1,
                          .meaning = "the dimension of the channels, 1 for NCHW and (N, C), -1 for "
                                     "NHWC; negative: from the end"}}};
}
void add_epsilon(OperatorDef& op) {
  op.parameters.push_back(
      {.name = "epsilon", .otherwise = 1e-5, .least = 0, .meaning = "added to the variance"});
}
void add_weights(OperatorDef& op) {
  op.tensors.push_back(weight("gamma", "one factor per channel; left out: 1"));
  op.tensors.push_back(weight("beta", "one summand per channel; left out: 0"));
}

OperatorDef train() {
  OperatorDef op = of_channels(
      "batch_norm", "y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, per channel");
  add_weights(op);
  const char* const changed = "becomes (1 - momentum) times itself plus momentum times the batch's";
  op.tensors.push_back(statistic("running_mean", Role::inout, changed, true));
  op.tensors.push_back(statistic("running_variance", Role::inout, changed, true));
  op.tensors.push_back(tensor("y", Role::out, "", {"x"}));
  op.tensors.push_back(statistic("mean", Role::out, "of each channel, for backward", true));
  op.tensors.push_back(
      statistic("rstd", Role::out, "1 / sqrt(variance + epsilon), for backward", true));
  add_epsilon(op);
  op.parameters.push_back({.name = "momentum",
                           .otherwise = 0.1,
                           .least = 0,
                           .most = 1,
                           .meaning = "the part of the batch in the running statistics"});
  op.backward = "batch_norm_backward";
  op.distributions = {"plain", "large_mean"};
  op.notes =
      "In training: statistics are those of the batch, computed in f32 and always in the same "
      "order. The running variance takes the sum of squared distances over n - 1 (over 1, if a "
      "channel has one element), y that over n. With no elements, nothing happens.";
  return op;
}

OperatorDef infer() {
  OperatorDef op = of_channels("batch_norm_infer",
                               "y = (x - running_mean) / sqrt(running_variance + epsilon) * gamma "
                               "+ beta, per channel");
  op.tensors.push_back(statistic("running_mean", Role::in, "as training left it"));
  op.tensors.push_back(statistic("running_variance", Role::in, "as training left it"));
  add_weights(op);
  op.tensors.push_back(tensor("y", Role::out, "", {"x"}));
  add_epsilon(op);
  op.notes = "Computed in f32 and rounded once.";
  return op;
}

OperatorDef backward() {
  OperatorDef op =
      of_channels("batch_norm_backward",
                  "dgamma = sum dy h, dbeta = sum dy, dx = gamma rstd (dy - dbeta / n "
                  "- h dgamma / n), where h = (x - mean) rstd, n elements per channel");
  op.tensors.front().meaning = "as the forward pass had it";
  op.tensors.push_back(tensor("dy", Role::in, "the gradient of y"));
  op.tensors.push_back(weight("gamma", "as the forward pass had it"));
  op.tensors.push_back(statistic("mean", Role::in, "as the forward pass gave it"));
  op.tensors.push_back(statistic("rstd", Role::in, "as the forward pass gave it"));
  op.tensors.push_back(tensor("dx", Role::out, "the gradient of x", {"x", "dy"}));
  op.tensors.push_back(statistic("dgamma", Role::out, "the gradient of gamma"));
  op.tensors.push_back(statistic("dbeta", Role::out, "the gradient of beta"));
  op.aliases = {"batch_norm_bwd"};
  op.notes =
      "Of batch_norm in training, computed in f32. Sums are made in the same order in every "
      "run. With no elements, dgamma and dbeta are 0.";
  return op;
}

}  // namespace

// In the order of batch_norm::Op.
Operators operators() { return {train(), infer(), backward()}; }

}  // namespace ridge::batch_norm
