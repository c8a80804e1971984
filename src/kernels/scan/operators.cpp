#include "operator/description.h"

namespace ridge::scan {

// variants.h knows the order.
Operators operators() {
  OperatorDef op = {
      .name = "inclusive_scan",
      .formula = "out[i] = in[0] + ... + in[i]",
      .dimensions = {{"n", "elements"}},
      .tensors = {{.name = "in",
                   .shape = "n",
                   .formats = {Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f16, Dtype::bf16},
                   .layout = Layout::contiguous},
                  {.name = "out",
                   .role = Role::out,
                   .shape = "n",
                   .like = "in",
                   .layout = Layout::contiguous,
                   .may_be = {"in"}}},
      .header = "ridge/scan.h",
      .notes =
          "Integers wrap around. f16 and bf16 are added in f32 and rounded once. Sums of "
          "floats may differ in their last digits from run to run. A NaN stays to the end."};
  Operators all = {op};
  op.name = "exclusive_scan";
  op.formula = "out[i] = in[0] + ... + in[i - 1], out[0] = 0";
  all.push_back(op);
  op.notes = "A NaN stays to the end.";
  op.name = "inclusive_max_scan";
  op.formula = "out[i] = max(in[0], ..., in[i])";
  all.push_back(op);
  op.name = "exclusive_max_scan";
  op.formula = "out[i] = max(in[0], ..., in[i - 1]), out[0] = -inf or the least integer";
  all.push_back(op);
  return all;
}

}  // namespace ridge::scan
