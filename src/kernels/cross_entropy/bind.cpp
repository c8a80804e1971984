#include "kernels/cross_entropy/cross_entropy.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::cross_entropy {
namespace {

// The memory of a tensor that may be left out, or that the operator does not have.
float* floats(const Call& call, const char* name) {
  const Tensor* const t = call.op().tensor(name) ? call.find(name) : nullptr;
  return t ? static_cast<float*>(t->data) : nullptr;
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  const Op op = Op(call.op().index);
  const Tensor& logits = call["logits"];
  const ops::Rows rows = ops::rows_of(logits);
  Args args = {.logits = logits.data,
               .targets = call["targets"].data,
               .losses = floats(call, "losses"),
               .loss = floats(call, "loss"),
               .lse = floats(call, "lse"),
               .dloss = floats(call, "dloss"),
               .dlosses = floats(call, "dlosses"),
               .rows = rows.rows,
               .cols = rows.cols,
               .logits_stride = rows.stride,
               .ignored = call.integer("ignore_index"),
               .smoothing = float(call.number("label_smoothing")),
               .reduction = Reduction(call.integer("reduction")),
               .backward = op == Op::backward,
               .wide_targets = call["targets"].dtype == Dtype::i64,
               .dtype = logits.dtype};
  const bool none = args.reduction == Reduction::none;
  const std::string name = call.op().name;
  if (op == Op::backward) {
    if (none ? !args.dlosses || args.dloss : !args.dloss || args.dlosses)
      return Error{ops::kInvalid, name + (none ? ": reduction none takes dlosses, and no dloss"
                                               : ": this reduction takes dloss, and no dlosses")};
  } else if (none && args.loss) {
    return Error{ops::kInvalid, name + ": reduction none gives losses, and no loss"};
  } else if (!args.loss && !args.losses && !args.lse && op == Op::forward) {
    return Error{ops::kInvalid, name + ": there is nothing to compute: pass loss, losses or lse"};
  }
  if (op == Op::with_gradient) args.scale = float(call.number("scale"));
  if (op != Op::forward) {
    args.dlogits = call["dlogits"].data;
    args.dlogits_stride = ops::rows_of(call["dlogits"]).stride;
  }
  if (args.cols == 0 && args.rows > 0)
    return Error{ops::kInvalid, name + ": logits has no columns, so there is no target"};
  if (args.rows == 0 && !args.loss) return Status::ok();
  return launch(args);
}

}  // namespace ridge::cross_entropy
