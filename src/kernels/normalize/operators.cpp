#include "operator/description.h"

namespace ridge::normalize {

static OperatorDef of_rows(const std::string& name, const std::string& norm) {
  return {.name = name,
          .formula = "out = x / max(" + norm + ", epsilon), row by row",
          .dimensions = {{"rows"}, {"cols"}},
          .tensors =
              {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows},
               {.name = "out",
                .role = Role::out,
                .shape = "rows..., cols",
                .like = "x",
                .layout = Layout::rows,
                .may_be = {"x"}}},
          .parameters = {{.name = "epsilon",
                          .otherwise = 1e-12,
                          .least = 0,
                          .meaning = "the least that a row is divided by"}},
          .header = "ridge/reduce.h",
          .notes = "Computed in f32 and rounded once. A NaN spreads over its row."};
}

static OperatorDef clip_by_global_norm() {
  return {.name = "clip_by_global_norm",
          .formula = "norm = sqrt(sum of x * x), out = x * min(1, max_norm / (norm + 1e-6))",
          .dimensions = {{"n", "elements, in any shape"}},
          .tensors = {{.name = "x", .shape = "n...", .formats = kFloats, .layout = Layout::dense},
                      {.name = "out",
                       .role = Role::out,
                       .shape = "n...",
                       .like = "x",
                       .layout = Layout::dense,
                       .strides_of = "x",
                       .may_be = {"x"}},
                      {.name = "norm", .role = Role::out, .shape = "1", .formats = {Dtype::f32}}},
          .parameters = {{.name = "max_norm",
                          .otherwise = 1,
                          .least = 0,
                          .meaning = "x with a greater norm is scaled down to this one"}},
          .header = "ridge/reduce.h",
          .notes =
              "As PyTorch does with gradients. Many gradients are clipped by the norm of all where "
              "they lie in one buffer. A NaN spreads over all elements."};
}

// In the order of normalize::Kind.
Operators operators() {
  return {of_rows("l1_normalize", "sum of |x|"), of_rows("l2_normalize", "sqrt(sum of x * x)"),
          clip_by_global_norm()};
}

}  // namespace ridge::normalize
