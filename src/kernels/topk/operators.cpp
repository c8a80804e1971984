#include "operator/description.h"

namespace ridge::topk {

Operators operators() {
  return {{.name = "topk",
           .formula = "values[r], indices[r] = the k largest elements of x[r], and their columns",
           .dimensions = {{"rows"}, {"cols"}, {"k", "elements taken of each row, at most 2048"}},
           .tensors =
               {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows},
                {.name = "values",
                 .role = Role::out,
                 .shape = "rows..., k",
                 .like = "x",
                 .layout = Layout::rows},
                {.name = "indices",
                 .role = Role::out,
                 .shape = "rows..., k",
                 .formats = {Dtype::i32},
                 .layout = Layout::rows}},
           .parameters = {{.name = "largest",
                           .type = ParameterType::flag,
                           .otherwise = 1,
                           .meaning = "the largest elements, or the smallest"},
                          {.name = "sorted",
                           .type = ParameterType::flag,
                           .otherwise = 1,
                           .meaning = "the best first, or in the order of their columns"}},
           .distributions = {"random", "rising", "falling", "equal", "few_values"},
           .notes = "NaN counts as larger than every number, as in PyTorch. Of equal elements, the "
                    "one with the lower column comes first; -0 and 0 are equal, and all NaN are. "
                    "Distributions of x for tests and climbs say how a row goes."}};
}

}  // namespace ridge::topk
