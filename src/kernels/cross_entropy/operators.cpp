#include "operator/description.h"

namespace ridge::cross_entropy {
namespace {

TensorDef logits() {
  return {.name = "logits",
          .shape = "rows..., cols",
          .formats = kFloats,
          .layout = Layout::rows,
          .meaning = "one row per token, one column per class"};
}
TensorDef targets() {
  return {.name = "targets",
          .shape = "rows...",
          .formats = {Dtype::i64, Dtype::i32},
          .layout = Layout::contiguous,
          .meaning = "the right column of each row, or ignore_index"};
}
TensorDef per_row(const char* name, Role role, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = "rows...",
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .meaning = meaning};
}
TensorDef on_request(TensorDef t) {
  t.optional = t.on_request = true;
  return t;
}
TensorDef single(const char* name, Role role, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = "1",
          .formats = {Dtype::f32},
          .optional = true,
          .meaning = meaning};
}
TensorDef gradient() {
  return {.name = "dlogits",
          .role = Role::out,
          .shape = "rows..., cols",
          .like = "logits",
          .layout = Layout::rows,
          .may_be = {"logits"},
          .meaning = "the gradient of the logits"};
}
const ParameterDef kReduction = {.name = "reduction",
                                 .type = ParameterType::choice,
                                 .choices = {"mean", "sum", "none"},
                                 .meaning = "of the rows that are not ignored"};
const ParameterDef kSmoothing = {.name = "label_smoothing",
                                 .otherwise = 0,
                                 .least = 0,
                                 .most = 1,
                                 .meaning = "the share of the target that all columns have alike"};
const ParameterDef kIgnored = {.name = "ignore_index",
                               .type = ParameterType::integer,
                               .otherwise = -100,
                               .meaning = "the target of rows that do not count"};

}  // namespace

// In the order of cross_entropy::Op.
Operators operators() {
  const std::vector<DimensionDef> dimensions = {{"rows"}, {"cols", "columns, the vocabulary"}};
  const std::string common =
      " Computed in f32. A row whose target is ignore_index is not read; its loss and its gradient "
      "are 0. Any other target outside of the columns makes the loss and the gradient of its row "
      "NaN. The mean of no rows is NaN.";
  // padding: a fifth of the rows is ignored. large_logits: exp(x) alone overflows.
  const std::vector<std::string> distributions = {"plain", "padding", "large_logits"};
  return {
      {.name = "cross_entropy",
       .formula = "losses = log sum exp(logits) - logits[target], loss = their mean or sum",
       .dimensions = dimensions,
       .tensors = {logits(), targets(), single("loss", Role::out, "the mean or sum of the losses"),
                   on_request(per_row("losses", Role::out, "the loss of each row")),
                   on_request(per_row("lse", Role::out,
                                      "log sum exp of each row, for backward; 0 where the row "
                                      "is ignored"))},
       .parameters = {kReduction, kSmoothing, kIgnored},
       .backward = "cross_entropy_backward",
       .distributions = distributions,
       .notes = "With reduction none there is no loss, only losses." + common},
      {.name = "cross_entropy_backward",
       .formula = "dlogits = dloss (exp(logits - lse) - [column is the target])",
       .dimensions = dimensions,
       .tensors = {logits(), targets(), per_row("lse", Role::in, "as the forward pass gave it"),
                   single("dloss", Role::in, "the gradient of the mean or sum"),
                   on_request(per_row("dlosses", Role::in, "the gradients of the losses")),
                   gradient()},
       .parameters = {kReduction, kSmoothing, kIgnored},
       .aliases = {"cross_entropy_bwd"},
       .distributions = {"plain", "padding"},
       .notes = "With reduction none it takes dlosses, otherwise dloss." + common},
      {.name = "cross_entropy_with_gradient",
       .formula = "loss = mean or sum of the losses, dlogits = scale times its gradient",
       .dimensions = dimensions,
       .tensors = {logits(), targets(), single("loss", Role::out, "the mean or sum of the losses"),
                   on_request(per_row("losses", Role::out, "the loss of each row")),
                   on_request(single("dloss", Role::in, "a factor of the gradient, beside scale")),
                   gradient()},
       .parameters = {kReduction,
                      kSmoothing,
                      kIgnored,
                      {.name = "scale",
                       .otherwise = 1,
                       .meaning = "factor of the gradient: the gradient of the loss"}},
       .distributions = distributions,
       .notes = "Forward and backward at once, so that the logits are read once and, if dlogits is "
                "logits, replaced by their gradient." +
                common}};
}

}  // namespace ridge::cross_entropy
