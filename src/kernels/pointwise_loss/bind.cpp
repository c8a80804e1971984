#include "kernels/pointwise_loss/pointwise_loss.h"
#include "ladder/family.h"

namespace ridge::pointwise_loss {

Status bind(const Call& call, Launch<Args>& launch) {
  const Op op = Op(call.op().index);
  const Tensor& target = call["target"];
  Args args = {.op = op, .target = target.data, .n = target.elements(), .dtype = target.dtype};
  if (op != Op::kl_div_bwd) args.x = call["x"].data;
  if (op == Op::kl_div || op == Op::kl_div_bwd) args.log_target = call.flag("log_target");
  if (is_backward(op)) {
    args.dloss = static_cast<const float*>(call["dloss"].data);
    args.dx = call["dx"].data;
    if (args.n == 0) return Status::ok();
  } else {
    args.loss = static_cast<float*>(call["loss"].data);
  }
  const auto reduction = Reduction(call.integer("reduction"));
  if (reduction == Reduction::mean) args.factor = float(1 / double(args.n));
  if (reduction == Reduction::batchmean)
    args.factor = float(1 / double(target.rank > 0 ? target.shape[0] : 1));
  return launch(args);
}

}  // namespace ridge::pointwise_loss
