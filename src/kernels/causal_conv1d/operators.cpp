#include "operator/description.h"

namespace ridge::causal_conv1d {
namespace {

TensorDef rows(const char* name, Role role, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = "batch, channels, length",
          .like = "x",
          .layout = Layout::rows,
          .meaning = meaning};
}
TensorDef sums(const char* name, const char* shape, const char* meaning) {
  return {.name = name,
          .role = Role::out,
          .shape = shape,
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .row_dims = 2,
          .meaning = meaning};
}

OperatorDef described(bool backward) {
  OperatorDef op = {
      .name = backward ? "causal_conv1d_backward" : "causal_conv1d",
      .formula = backward
                     ? "dx[t] = sum w[k] g[t + width - 1 - k], dw[k] = sum g[t] x[t - width + 1 + "
                       "k], dbias = sum g, where g = dy, or dy silu'(z)"
                     : "y[b, c, t] = f(bias[c] + sum over k of w[c, k] x[b, c, t - width + 1 + k])",
      .dimensions = {{"batch"}, {"channels"}, {"length"}, {"width", "taps, 2 to 4"}},
      .tensors = {{.name = "x",
                   .shape = "batch, channels, length",
                   .formats = kFloats,
                   .layout = Layout::rows},
                  {.name = "w",
                   .shape = "channels, width",
                   .like = "x",
                   .layout = Layout::contiguous,
                   .row_dims = 2,
                   .meaning = "one filter per channel"},
                  {.name = "bias",
                   .shape = "channels",
                   .like = "x",
                   .layout = Layout::contiguous,
                   .optional = true,
                   .meaning = "one summand per channel; left out: 0"}},
      .parameters = {{.name = "silu",
                      .type = ParameterType::flag,
                      .meaning = "f is silu; otherwise the identity"}},
      .notes = "Computed in f32. Before the first element of a row there are zeros."};
  if (!backward) {
    op.tensors.push_back(rows("y", Role::out, ""));
    op.backward = "causal_conv1d_backward";
    return op;
  }
  op.tensors.push_back(rows("dy", Role::in, "the gradient of y"));
  op.tensors.push_back(rows("dx", Role::out, "the gradient of x"));
  op.tensors.push_back(sums("dw", "channels, width", "the gradient of w"));
  op.tensors.push_back(sums("dbias", "channels", "the gradient of bias"));
  op.aliases = {"causal_conv1d_bwd"};
  op.notes += " Sums over batch and length are made in the same order in every run.";
  return op;
}

}  // namespace

// In the order of causal_conv1d::Op.
Operators operators() { return {described(false), described(true)}; }

}  // namespace ridge::causal_conv1d
