#include "operator/description.h"

namespace ridge::linear_cross_entropy {
namespace {

TensorDef matrix(const char* name, Role role, const char* shape, const char* like,
                 const char* meaning) {
  TensorDef t = {.name = name,
                 .role = role,
                 .shape = shape,
                 .like = like,
                 .layout = Layout::rows,
                 .meaning = meaning};
  if (t.like.empty()) t.formats = kFloats;
  return t;
}
TensorDef numbers(const char* name, const char* shape, const char* meaning) {
  return {.name = name,
          .role = Role::out,
          .shape = shape,
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .meaning = meaning};
}
TensorDef on_request(TensorDef t) {
  t.optional = t.on_request = true;
  return t;
}

}  // namespace

Operators operators() {
  TensorDef dweight = numbers("dweight", "cols, dim", "the gradient of weight");
  dweight.layout = Layout::rows;
  return {{.name = "linear_cross_entropy",
           .formula = "loss = mean or sum of log sum exp(x) - x[target], x = hidden weight^T",
           .dimensions = {{"rows", "tokens"},
                          {"cols", "rows of weight, the vocabulary"},
                          {"dim", "of the hidden states"}},
           .tensors = {matrix("hidden", Role::in, "rows, dim", "", "one row per token"),
                       matrix("weight", Role::in, "cols, dim", "hidden", "one row per class"),
                       {.name = "targets",
                        .shape = "rows",
                        .formats = {Dtype::i64, Dtype::i32},
                        .layout = Layout::contiguous,
                        .meaning = "the right row of weight for each token, or ignore_index"},
                       numbers("loss", "1", "the mean or sum of the losses"),
                       on_request(numbers("losses", "rows", "the loss of each token")),
                       on_request(matrix("dhidden", Role::out, "rows, dim", "hidden",
                                         "scale times the gradient of hidden")),
                       on_request(std::move(dweight))},
           .parameters = {{.name = "reduction",
                           .type = ParameterType::choice,
                           .choices = {"mean", "sum"},
                           .meaning = "of the tokens that are not ignored"},
                          {.name = "label_smoothing",
                           .otherwise = 0,
                           .least = 0,
                           .most = 1,
                           .meaning = "the share of the target that all classes have alike"},
                          {.name = "ignore_index",
                           .type = ParameterType::integer,
                           .otherwise = -100,
                           .meaning = "the target of tokens that do not count"},
                          {.name = "scale",
                           .otherwise = 1,
                           .meaning = "factor of the gradients: the gradient of the loss"}},
           .distributions = {"plain", "padding", "large_logits"},
           .notes =
               "The logits are never stored as a whole: the workspace holds an eighth of them at "
               "most, or those of 64 tokens. Logits and their gradients may be rounded to the "
               "format of hidden; sums are f32, and so is the gradient of weight, which adds up "
               "over all tokens. As cross_entropy: a token whose target is ignore_index counts for "
               "nothing, any other target outside of the classes makes the loss NaN."}};
}

}  // namespace ridge::linear_cross_entropy
