#include "operator/description.h"

namespace ridge::dyt {

static OperatorDef backward() {
  const auto of_x = [](const char* name, Role role, const char* meaning) -> TensorDef {
    return {.name = name,
            .role = role,
            .shape = "rows..., cols",
            .like = "x",
            .layout = Layout::rows,
            .meaning = meaning};
  };
  // Sums over all rows: f32, whatever x is.
  const auto sum = [](const char* name, const char* shape, const char* meaning) -> TensorDef {
    return {.name = name,
            .role = Role::out,
            .shape = shape,
            .formats = {Dtype::f32},
            .layout = Layout::contiguous,
            .meaning = meaning};
  };
  OperatorDef op = {
      .name = "dyt_backward",
      .formula =
          "dx = dy gamma alpha s, dgamma = sum dy t, dbeta = sum dy, dalpha = sum dy gamma x "
          "s, where t = tanh(alpha x), s = 1 - t^2",
      .dimensions = {{"rows"}, {"cols"}},
      .tensors =
          {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows},
           of_x("dy", Role::in, "the gradient of y"),
           {.name = "alpha",
            .shape = "1",
            .formats = {Dtype::f32},
            .meaning = "as the forward pass had it"},
           {.name = "gamma",
            .shape = "cols",
            .like = "x",
            .layout = Layout::contiguous,
            .meaning = "as the forward pass had it"},
           of_x("dx", Role::out, "the gradient of x"),
           sum("dalpha", "1", "the gradient of alpha"),
           sum("dgamma", "cols", "the gradient of gamma"),
           sum("dbeta", "cols", "the gradient of beta")},
      .notes = "Sums are made in the same order in every run."};
  op.tensors[4].may_be = {"x", "dy"};
  return op;
}

Operators operators() {
  return {
      {.name = "dyt",
       .formula = "y = gamma tanh(alpha x) + beta",
       .dimensions = {{"rows"}, {"cols"}},
       .tensors =
           {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows},
            {.name = "alpha",
             .shape = "1",
             .formats = {Dtype::f32},
             .meaning = "one number for all, which is learned"},
            {.name = "gamma",
             .shape = "cols",
             .like = "x",
             .layout = Layout::contiguous,
             .meaning = "one factor per column"},
            {.name = "beta",
             .shape = "cols",
             .like = "x",
             .layout = Layout::contiguous,
             .meaning = "one summand per column"},
            {.name = "y",
             .role = Role::out,
             .shape = "rows..., cols",
             .like = "x",
             .layout = Layout::rows,
             .may_be = {"x"}}},
       .backward = "dyt_backward",
       .notes = "Dynamic tanh, which takes the place of a normalisation layer. Computed in f32."},
      backward()};
}

}  // namespace ridge::dyt
