#include "operator/description.h"

namespace ridge::vote {

Operators operators() {
  return {{.name = "vote",
           .formula = "y = x >= 0 ? S(x / 2) : 1 - S(-x / 4), with S(a) = 1 + a + a^2 + … + a^24",
           .dimensions = {{"n", "elements"}},
           .tensors =
               {{.name = "x", .shape = "n", .formats = {Dtype::f32}, .layout = Layout::contiguous},
                {.name = "y",
                 .role = Role::out,
                 .shape = "n",
                 .like = "x",
                 .layout = Layout::contiguous},
                {.name = "first",
                 .role = Role::out,
                 .shape = "ceil(n/32)",
                 .formats = {Dtype::u32},
                 .layout = Layout::contiguous,
                 .meaning = "one bit per element, the lowest first: whether x >= 0"}},
           .aliases = {"vote_runs"},
           .distributions = {"mixed", "runs"},
           .notes = "Distributions of x for tests and climbs: signs at random (mixed), or the same "
                    "sign for 4096 elements (runs)."}};
}

}  // namespace ridge::vote
