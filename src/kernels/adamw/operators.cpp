#include "operator/description.h"
#include "ridge/elementwise.h"

namespace ridge::adamw {

Operators operators() {
  const AdamwOptions defaults;
  const auto state = [](const char* name, const char* meaning) -> TensorDef {
    return {.name = name,
            .role = Role::inout,
            .shape = "n...",
            .formats = {Dtype::f32},
            .meaning = meaning};
  };
  TensorDef master = state("master", "what is updated, where the weights are bf16, and only there");
  master.optional = true;
  const auto number = [](const char* name, double otherwise, const char* meaning) -> ParameterDef {
    return {.name = name, .otherwise = otherwise, .least = 0, .meaning = meaning};
  };
  ParameterDef beta1 = number("beta1", defaults.beta1, "share of m that a step keeps");
  ParameterDef beta2 = number("beta2", defaults.beta2, "share of v that a step keeps");
  for (ParameterDef* beta : {&beta1, &beta2}) {
    beta->most = 1;
    beta->under_most = true;
  }
  return {{.name = "adamw",
           .formula =
               "m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, w = (1 - lr decay) w "
               "- lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)",
           .dimensions = {{"n", "elements, in any shape"},
                          {.name = "tensors",
                           .meaning = "how many tensors of uneven sizes the elements are cut into",
                           .otherwise = [](const std::vector<int64_t>&) { return int64_t(1); }}},
           .tensors =
               {{.name = "weight",
                 .role = Role::inout,
                 .shape = "n...",
                 .formats = {Dtype::f32, Dtype::bf16},
                 .meaning = "bf16: the rounded master, only written"},
                {.name = "grad", .shape = "n...", .like = "weight", .meaning = "g in the formula"},
                state("m", "mean of the gradients"),
                state("v", "mean of their squares"),
                master},
           .parameters = {number("lr", defaults.lr, "learning rate"),
                          beta1,
                          beta2,
                          number("eps", defaults.eps, "what the root of v is kept away from 0 by"),
                          number("weight_decay", defaults.weight_decay, "decay in the formula"),
                          {.name = "step",
                           .type = ParameterType::integer,
                           .otherwise = double(defaults.step),
                           .least = 1,
                           .meaning = "t in the formula, from 1"}},
           .aliases = {"adamw_many"},
           .header = "ridge/elementwise.h",
           .notes =
               "As torch.optim.AdamW. All tensors lie alike but for gaps: the dimension in which "
               "the weights have their least stride has stride 1 in all of them."}};
}

}  // namespace ridge::adamw
