#include "operator/description.h"

namespace ridge::pointwise_loss {
namespace {

TensorDef elements(const char* name, Role role, const char* like, const char* meaning) {
  TensorDef t = {.name = name,
                 .role = role,
                 .shape = "n...",
                 .like = like,
                 .layout = Layout::contiguous,
                 .meaning = meaning};
  if (t.like.empty()) t.formats = kFloats;
  return t;
}
TensorDef single(const char* name, Role role, const char* meaning) {
  return {.name = name, .role = role, .shape = "1", .formats = {Dtype::f32}, .meaning = meaning};
}
ParameterDef reduction(std::vector<std::string> choices) {
  return {.name = "reduction",
          .type = ParameterType::choice,
          .choices = std::move(choices),
          .meaning = "of the terms of all elements"};
}
const ParameterDef kLogTarget = {.name = "log_target",
                                 .type = ParameterType::flag,
                                 .otherwise = 0,
                                 .meaning = "whether target holds logarithms, as x does"};
const std::vector<DimensionDef> kDimensions = {{"n", "elements, in any shape"}};
const char* const kNotes =
    "Computed in f32. docs/losses.md has the definition and its source. The mean of no elements is "
    "NaN.";

}  // namespace

// In the order of pointwise_loss::Op.
Operators operators() {
  const std::string kl_notes =
      std::string(
          "batchmean divides the sum by the size of the first dimension. Where a target is 0, its "
          "term is 0, whatever x is. ") +
      kNotes;
  return {{.name = "mse_loss",
           .formula = "loss = mean of (x - target)^2",
           .dimensions = kDimensions,
           .tensors = {elements("x", Role::in, "", ""), elements("target", Role::in, "x", ""),
                       single("loss", Role::out, "the mean or sum")},
           .parameters = {reduction({"mean", "sum"})},
           .backward = "mse_loss_backward",
           .notes = kNotes},
          {.name = "mse_loss_backward",
           .formula = "dx = 2 dloss (x - target) / n",
           .dimensions = kDimensions,
           .tensors = {elements("x", Role::in, "", ""), elements("target", Role::in, "x", ""),
                       single("dloss", Role::in, "the gradient of the loss"),
                       elements("dx", Role::out, "x", "the gradient of x; that of target is -dx")},
           .parameters = {reduction({"mean", "sum"})},
           .aliases = {"mse_loss_bwd"},
           .notes = kNotes},
          {.name = "kl_div",
           .formula = "loss = mean of target (log target - x)",
           .dimensions = kDimensions,
           .tensors = {elements("x", Role::in, "", "logarithms of probabilities"),
                       elements("target", Role::in, "x", "probabilities"),
                       single("loss", Role::out, "the mean or sum")},
           .parameters = {reduction({"mean", "sum", "batchmean"}), kLogTarget},
           .backward = "kl_div_backward",
           .distributions = {"plain", "one_hot"},
           .notes = kl_notes},
          {.name = "kl_div_backward",
           .formula = "dx = -dloss target / n",
           .dimensions = kDimensions,
           .tensors = {elements("target", Role::in, "", "probabilities"),
                       single("dloss", Role::in, "the gradient of the loss"),
                       elements("dx", Role::out, "target", "the gradient of x")},
           .parameters = {reduction({"mean", "sum", "batchmean"}), kLogTarget},
           .aliases = {"kl_div_bwd"},
           .notes = kl_notes}};
}

}  // namespace ridge::pointwise_loss
