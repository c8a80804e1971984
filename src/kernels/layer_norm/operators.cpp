#include "operator/description.h"

namespace ridge::layer_norm {
namespace {

TensorDef rows(const char* name, Role role, const char* meaning,
               std::vector<std::string> may_be = {}) {
  return {.name = name,
          .role = role,
          .shape = "rows..., cols",
          .like = "x",
          .layout = Layout::rows,
          .may_be = std::move(may_be),
          .meaning = meaning};
}
TensorDef weight(const char* name, const char* meaning) {
  return {.name = name,
          .shape = "cols",
          .like = "x",
          .layout = Layout::contiguous,
          .optional = true,
          .meaning = meaning};
}
// What a row is known by: f32, whatever x is.
TensorDef statistic(const char* name, Role role, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = "rows...",
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .optional = role == Role::out,
          .on_request = role == Role::out,
          .meaning = meaning};
}
TensorDef column_sum(const char* name, const char* meaning) {
  return {.name = name,
          .role = Role::out,
          .shape = "cols",
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .meaning = meaning};
}

OperatorDef forward(bool centred, bool added) {
  const std::string norm = centred ? "layer_norm" : "rms_norm", of = added ? "sum" : "x";
  const std::string distance = centred ? "(" + of + " - mean)" : of;
  OperatorDef op = {
      .name = (added ? "add_" : "") + norm,
      .formula = (added ? "sum = x + residual, " : "") + std::string("y = ") + distance +
                 " / sqrt(" + (centred ? "variance" : "mean of " + of + " * " + of) +
                 " + epsilon) * gamma" + (centred ? " + beta" : ""),
      .dimensions = {{"rows"}, {"cols"}},
      .tensors =
          {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows}},
      .parameters = {{.name = "epsilon",
                      .otherwise = 1e-5,
                      .least = 0,
                      .meaning = centred ? "added to the variance" : "added to the mean square"}},
      .backward = norm + "_backward",
      .notes = "Along rows, computed in f32 and rounded once. With no elements, nothing happens."};
  std::vector<std::string> inputs = {"x"};
  if (added) {
    op.tensors.push_back(rows("residual", Role::in, "what is added to x"));
    inputs.push_back("residual");
    op.notes += " The sum is rounded to its format, and the norm is that of the rounded sum.";
  }
  if (centred)
    op.notes +=
        " The variance is the mean squared distance from the mean, never a difference of "
        "squares.";
  op.tensors.push_back(weight("gamma", "one factor per column; left out: 1"));
  if (centred) op.tensors.push_back(weight("beta", "one summand per column; left out: 0"));
  if (added) op.tensors.push_back(rows("sum", Role::out, "x + residual", inputs));
  op.tensors.push_back(rows("y", Role::out, "", inputs));
  if (centred) op.tensors.push_back(statistic("mean", Role::out, "of each row, for backward"));
  op.tensors.push_back(
      statistic("rstd", Role::out, "1 / sqrt(… + epsilon) of each row, for backward"));
  if (centred) op.distributions = {"plain", "large_mean"};
  return op;
}

OperatorDef backward(bool centred) {
  const std::string norm = centred ? "layer_norm" : "rms_norm";
  OperatorDef op = {
      .name = norm + "_backward",
      .formula = centred ? "dx = rstd (g - mean(g) - n mean(g n)) + dsum, dgamma = sum dy n, dbeta "
                           "= sum dy, where g = dy gamma, n = (x - mean) rstd"
                         : "dx = rstd (g - n mean(g n)) + dsum, dgamma = sum dy n, where g = dy "
                           "gamma, n = x rstd",
      .dimensions = {{"rows"}, {"cols"}},
      .tensors = {{.name = "x",
                   .shape = "rows..., cols",
                   .formats = kFloats,
                   .layout = Layout::rows,
                   .meaning = "as the forward pass had it; of the fused one, its sum"},
                  rows("dy", Role::in, "the gradient of y")},
      .aliases = {norm + "_bwd"},
      .notes =
          "Computed in f32. Sums are made in the same order in every run. With a dsum, dx is "
          "the gradient of both x and residual of add_" +
          norm + "."};
  op.tensors.push_back(weight("gamma", "as the forward pass had it"));
  if (centred) op.tensors.push_back(statistic("mean", Role::in, "as the forward pass gave it"));
  op.tensors.push_back(statistic("rstd", Role::in, "as the forward pass gave it"));
  TensorDef dsum = rows("dsum", Role::in, "a gradient of sum that is added to dx");
  dsum.optional = dsum.on_request = true;
  op.tensors.push_back(std::move(dsum));
  op.tensors.push_back(rows("dx", Role::out, "the gradient of x", {"x", "dy", "dsum"}));
  op.tensors.push_back(column_sum("dgamma", "the gradient of gamma"));
  if (centred) op.tensors.push_back(column_sum("dbeta", "the gradient of beta"));
  return op;
}

}  // namespace

// In the order of layer_norm::Op.
Operators operators() {
  return {forward(true, false), forward(false, false), forward(true, true),
          forward(false, true), backward(true),        backward(false)};
}

}  // namespace ridge::layer_norm
