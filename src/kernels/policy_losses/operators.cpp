#include "operator/description.h"

namespace ridge::policy_losses {
namespace {

struct Shaped {
  const char* shape;
  const char* like;  // the first tensor

  TensorDef tensor(const char* name, Role role, const char* meaning) const {
    return {.name = name,
            .role = role,
            .shape = shape,
            .like = like,
            .layout = Layout::contiguous,
            .meaning = meaning};
  }
  TensorDef first(const char* meaning) const {
    return {.name = like,
            .shape = shape,
            .formats = kFloats,
            .layout = Layout::contiguous,
            .meaning = meaning};
  }
  TensorDef mask() const {
    return {.name = "mask",
            .shape = shape,
            .formats = {Dtype::u8},
            .layout = Layout::contiguous,
            .optional = true,
            .on_request = true,
            .meaning = "0 where an element does not count; left out: all count"};
  }
};
TensorDef requested(TensorDef t) {
  t.optional = t.on_request = true;
  return t;
}
TensorDef numbers(const char* name, const char* shape, Role role, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = shape,
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .meaning = meaning};
}
ParameterDef number(const char* name, double otherwise, const char* meaning, double most = 1e30) {
  return {.name = name, .otherwise = otherwise, .least = 0, .most = most, .meaning = meaning};
}
const std::vector<std::string> kDistributions = {"plain", "unlikely"};
const char* const kNotes =
    " Computed in f32; sums are made in the same order in every run. What is masked is not read, "
    "and has no gradient. With nothing that counts, losses are 0. docs/losses.md has the "
    "definition and its source.";

OperatorDef ppo() {
  const Shaped n = {"n...", "logp"};
  return {.name = "ppo_loss",
          .formula =
              "total = policy + value_weight * value - entropy_weight * entropy, policy = "
              "mean of -min(r A, clip(r) A), r = exp(logp - old_logp)",
          .dimensions = {{"n", "actions, in any shape"}},
          .tensors = {n.first("log-probabilities of the actions that were taken"),
                      n.tensor("old_logp", Role::in, "the same when they were taken"),
                      n.tensor("advantages", Role::in, "A"),
                      n.tensor("values", Role::in, "of the states, as the policy sees them now"),
                      n.tensor("returns", Role::in, "what the values should be"),
                      requested(n.tensor("old_values", Role::in,
                                         "the values when the actions were taken; left out: values "
                                         "are not clipped")),
                      requested(n.tensor("entropy", Role::in,
                                         "of the distribution over actions; left out: 0")),
                      n.mask(), numbers("losses", "4", Role::out, "total, policy, value, entropy"),
                      n.tensor("dlogp", Role::out, "the gradient of the total"),
                      n.tensor("dvalues", Role::out, "the gradient of the total")},
          .parameters = {number("clip", 0.2, "how far r may be from 1"),
                         number("value_clip", 0.2, "how far values may be from old_values"),
                         number("value_weight", 0.5, "factor of the value loss"),
                         number("entropy_weight", 0.01, "factor of the entropy")},
          .distributions = kDistributions,
          .notes = std::string("The gradient of each entropy is -entropy_weight / (elements that "
                               "count).") +
                   kNotes};
}

OperatorDef dpo() {
  const Shaped n = {"n...", "chosen"};
  return {.name = "dpo_loss",
          .formula =
              "loss = mean of -log sigmoid(h), h = beta ((chosen - ref_chosen) - (rejected - "
              "ref_rejected))",
          .dimensions = {{"n", "pairs, in any shape"}},
          .tensors = {n.first("log-probability of each chosen answer"),
                      n.tensor("rejected", Role::in, "log-probability of each rejected answer"),
                      n.tensor("ref_chosen", Role::in, "the same, by the reference policy"),
                      n.tensor("ref_rejected", Role::in, "the same, by the reference policy"),
                      numbers("loss", "1", Role::out, "the mean over all pairs"),
                      n.tensor("dchosen", Role::out, "the gradient of chosen"),
                      n.tensor("drejected", Role::out, "the gradient of rejected")},
          .parameters = {number("beta", 0.1, "how far the policy may be from the reference"),
                         number("label_smoothing", 0, "share of pairs whose label is wrong", 0.5)},
          .distributions = kDistributions,
          .notes = std::string("With label smoothing e, loss = mean of -(1 - e) log sigmoid(h) - e "
                               "log sigmoid(-h).") +
                   kNotes};
}

OperatorDef grpo() {
  const Shaped n = {"rows, cols", "logp"};
  return {.name = "grpo_loss",
          .formula =
              "loss = mean of -(min(r A, clip(r) A) - beta (exp(d) - d - 1)), r = exp(logp - "
              "old_logp), d = ref_logp - logp",
          .dimensions = {{"rows", "answers"}, {"cols", "tokens"}},
          .tensors = {n.first("log-probabilities of the tokens"),
                      requested(n.tensor("old_logp", Role::in,
                                         "the same when they were sampled; left out: r is 1")),
                      requested(n.tensor("ref_logp", Role::in,
                                         "by the reference policy; left out: no such term")),
                      numbers("advantages", "rows", Role::in, "A of each answer"), n.mask(),
                      numbers("loss", "1", Role::out, ""),
                      n.tensor("dlogp", Role::out, "the gradient of logp")},
          .parameters = {number("clip_low", 0.2, "how far r may be below 1"),
                         number("clip_high", 0.2, "how far r may be above 1"),
                         number("beta", 0.04, "factor of the distance from the reference"),
                         {.name = "average",
                          .type = ParameterType::choice,
                          .choices = {"sequence", "token"},
                          .meaning = "over the tokens of each answer and then over the answers, or "
                                     "over all tokens"}},
          .distributions = kDistributions,
          .notes = std::string("Advantages are those of a group: (reward - mean) / deviation.") +
                   kNotes};
}

}  // namespace

// In the order of policy_losses::Op.
Operators operators() { return {ppo(), dpo(), grpo()}; }

}  // namespace ridge::policy_losses
