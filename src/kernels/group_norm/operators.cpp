#include "operator/description.h"

namespace ridge::group_norm {
namespace {

TensorDef tensor(const char* name, Role role, const char* meaning,
                 std::vector<std::string> may_be = {}) {
  return {.name = name,
          .role = role,
          .shape = "n, groups, depth, inner...",
          .like = "x",
          .layout = Layout::contiguous,
          .may_be = std::move(may_be),
          .meaning = meaning};
}
TensorDef weight(const char* name, const char* meaning) {
  return {.name = name,
          .shape = "groups, depth",
          .like = "x",
          .layout = Layout::contiguous,
          .optional = true,
          .meaning = meaning};
}
// f32, whatever x is.
TensorDef statistic(const char* name, Role role, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = "n, groups",
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .optional = role == Role::out,
          .on_request = role == Role::out,
          .meaning = meaning};
}
TensorDef sum(const char* name, const char* meaning) {
  return {.name = name,
          .role = Role::out,
          .shape = "groups, depth",
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .meaning = meaning};
}
OperatorDef of_groups(const char* name, const char* formula) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"n", "samples"},
                         {"groups", "parts of the channels that are normalised together"},
                         {"depth", "channels of a group"},
                         {"inner", "dimensions behind the channels"}},
          .tensors = {{.name = "x",
                       .shape = "n, groups, depth, inner...",
                       .formats = kFloats,
                       .layout = Layout::contiguous,
                       .meaning = "NCHW, where C is groups times depth"}}};
}

}  // namespace

Operators operators() {
  OperatorDef forward =
      of_groups("group_norm",
                "y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, per sample and group");
  forward.tensors.push_back(weight("gamma", "one factor per channel; left out: 1"));
  forward.tensors.push_back(weight("beta", "one summand per channel; left out: 0"));
  forward.tensors.push_back(tensor("y", Role::out, "", {"x"}));
  forward.tensors.push_back(
      statistic("mean", Role::out, "of each group of each sample, for backward"));
  forward.tensors.push_back(
      statistic("rstd", Role::out, "1 / sqrt(variance + epsilon), for backward"));
  forward.parameters = {
      {.name = "epsilon", .otherwise = 1e-5, .least = 0, .meaning = "added to the variance"}};
  forward.backward = "group_norm_backward";
  forward.distributions = {"plain", "large_mean"};
  forward.notes =
      "Computed in f32 and rounded once. One channel per group is instance norm; one group is a "
      "layer norm with weights per channel. With no elements, nothing happens.";

  OperatorDef backward =
      of_groups("group_norm_backward",
                "dx = rstd (g - mean(g) - h mean(g h)), dgamma = sum dy h, dbeta = sum dy, where g "
                "= dy gamma, h = (x - mean) rstd");
  backward.tensors.push_back(tensor("dy", Role::in, "the gradient of y"));
  backward.tensors.push_back(weight("gamma", "as the forward pass had it"));
  backward.tensors.push_back(statistic("mean", Role::in, "as the forward pass gave it"));
  backward.tensors.push_back(statistic("rstd", Role::in, "as the forward pass gave it"));
  backward.tensors.push_back(tensor("dx", Role::out, "the gradient of x", {"x", "dy"}));
  backward.tensors.push_back(sum("dgamma", "the gradient of gamma"));
  backward.tensors.push_back(sum("dbeta", "the gradient of beta"));
  backward.aliases = {"group_norm_bwd"};
  backward.notes = "Computed in f32. Sums are made in the same order in every run.";
  return {forward, backward};
}

}  // namespace ridge::group_norm
