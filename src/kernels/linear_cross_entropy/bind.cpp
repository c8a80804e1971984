#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::linear_cross_entropy {
namespace {

template <class P>
void take(const Call& call, const char* name, P*& data, int64_t* stride = nullptr) {
  const Tensor* const t = call.find(name);
  if (!t) return;
  data = static_cast<P*>(t->data);
  if (stride) *stride = ops::rows_of(*t).stride;
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Args args = {.dim = call.size("dim"), .dtype = call["hidden"].dtype};
  take(call, "hidden", args.hidden, &args.hidden_stride);
  take(call, "weight", args.weight, &args.weight_stride);
  take(call, "dhidden", args.dhidden, &args.dhidden_stride);
  take(call, "dweight", args.dweight, &args.dweight_stride);
  take(call, "targets", args.rows.targets);
  take(call, "loss", args.rows.loss);
  take(call, "losses", args.rows.losses);
  args.rows.rows = call.size("rows");
  args.rows.cols = call.size("cols");
  args.rows.ignored = call.integer("ignore_index");
  args.rows.smoothing = float(call.number("label_smoothing"));
  args.rows.scale = float(call.number("scale"));
  args.rows.reduction = cross_entropy::Reduction(call.integer("reduction"));
  args.rows.wide_targets = call["targets"].dtype == Dtype::i64;
  args.rows.dtype = args.dtype;
  if (args.rows.cols == 0 && args.rows.rows > 0)
    return Error{ops::kInvalid, "linear_cross_entropy: weight has no rows, so there is no target"};
  return launch(args);
}

}  // namespace ridge::linear_cross_entropy
