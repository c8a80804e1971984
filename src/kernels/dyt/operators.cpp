#include "operator/description.h"

namespace ridge::dyt {

Operators operators() {
  return {
      {.name = "dyt",
       .formula = "y = gamma tanh(alpha x) + beta",
       .dimensions = {{"rows"}, {"cols"}},
       .tensors =
           {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows},
            {.name = "alpha",
             .shape = "1",
             .formats = {Dtype::f32},
             .meaning = "one number for all, which is learned"},
            {.name = "gamma",
             .shape = "cols",
             .like = "x",
             .layout = Layout::contiguous,
             .meaning = "one factor per column"},
            {.name = "beta",
             .shape = "cols",
             .like = "x",
             .layout = Layout::contiguous,
             .meaning = "one summand per column"},
            {.name = "y",
             .role = Role::out,
             .shape = "rows..., cols",
             .like = "x",
             .layout = Layout::rows,
             .may_be = {"x"}}},
       .notes = "Dynamic tanh, which takes the place of a normalisation layer. Computed in f32."}};
}

}  // namespace ridge::dyt
