#include "operator/description.h"

namespace ridge::launch_overhead {

Operators operators() {
  return {{.name = "launch_overhead",
           .formula = "counters = counters + 1, `steps` times, each step after the last",
           .dimensions = {{"steps", "launches, one after another"}},
           .tensors = {{.name = "counters",
                        .role = Role::inout,
                        .shape = "256",
                        .formats = {Dtype::u32},
                        .layout = Layout::contiguous}},
           .parameters = {{.name = "steps",
                           .type = ParameterType::integer,
                           .required = true,
                           .least = 0,
                           .meaning = "how often every counter goes up"}}}};
}

}  // namespace ridge::launch_overhead
