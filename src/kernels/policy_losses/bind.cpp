#include "kernels/policy_losses/policy_losses.h"
#include "ladder/family.h"

namespace ridge::policy_losses {
namespace {

// The memory of a tensor, null where it is left out.
void* data_of(const Call& call, const char* name) {
  const Tensor* const t = call.find(name);
  return t ? t->data : nullptr;
}
void take(const Call& call, std::initializer_list<const char*> names, Args& args) {
  size_t i = 0;
  for (const char* name : names) args.in[i++] = data_of(call, name);
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Args args = {.op = Op(call.op().index), .dtype = call.tensors[0]->dtype};
  args.cols = call.tensors[0]->elements();
  const auto number = [&](const char* name) { return float(call.number(name)); };
  switch (args.op) {
    case Op::ppo:
      take(call, {"logp", "old_logp", "advantages", "values", "returns", "old_values", "entropy"},
           args);
      args.mask = static_cast<const uint8_t*>(data_of(call, "mask"));
      args.losses = static_cast<float*>(call["losses"].data);
      args.gradients[0] = call["dlogp"].data;
      args.gradients[1] = call["dvalues"].data;
      args.clip_low = args.clip_high = number("clip");
      args.value_clip = number("value_clip");
      args.value_weight = number("value_weight");
      args.entropy_weight = number("entropy_weight");
      break;
    case Op::dpo:
      take(call, {"chosen", "rejected", "ref_chosen", "ref_rejected"}, args);
      args.losses = static_cast<float*>(call["loss"].data);
      args.gradients[0] = call["dchosen"].data;
      args.gradients[1] = call["drejected"].data;
      args.beta = number("beta");
      args.smoothing = number("label_smoothing");
      break;
    case Op::grpo:
      take(call, {"logp", "old_logp", "ref_logp"}, args);
      args.advantages = static_cast<const float*>(call["advantages"].data);
      args.mask = static_cast<const uint8_t*>(data_of(call, "mask"));
      args.losses = static_cast<float*>(call["loss"].data);
      args.gradients[0] = call["dlogp"].data;
      args.clip_low = number("clip_low");
      args.clip_high = number("clip_high");
      args.beta = number("beta");
      args.rows = call.size("rows");
      args.cols = call.size("cols");
      args.per_token = Average(call.integer("average")) == Average::token;
      break;
  }
  return launch(args);
}

}  // namespace ridge::policy_losses
