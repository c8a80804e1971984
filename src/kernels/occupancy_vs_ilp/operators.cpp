#include "operator/description.h"

namespace ridge::occupancy_vs_ilp {

Operators operators() {
  return {
      {.name = "occupancy_vs_ilp",
       .formula = "y = 0, then y = y / 2 + x, `steps` times",
       .dimensions = {{"chains", "elements, one chain of multiply-adds each"},
                      {"steps", "multiply-adds of each chain"}},
       .tensors =
           {{.name = "x", .shape = "chains", .formats = {Dtype::f32}, .layout = Layout::contiguous},
            {.name = "y",
             .role = Role::out,
             .shape = "chains",
             .like = "x",
             .layout = Layout::contiguous}},
       .parameters = {{.name = "steps",
                       .type = ParameterType::integer,
                       .required = true,
                       .least = 0,
                       .most = std::numeric_limits<int32_t>::max(),
                       .meaning = "multiply-adds of each chain"}}}};
}

}  // namespace ridge::occupancy_vs_ilp
