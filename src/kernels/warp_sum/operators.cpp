#include "operator/description.h"

namespace ridge::warp_sum {

Operators operators() {
  return {{.name = "warp_sum",
           .formula = "out[r] = the sum of in[r, 0 … 31]",
           .dimensions = {{"rows", "of 32 numbers each"}},
           .tensors = {{.name = "in",
                        .shape = "rows, 32",
                        .formats = {Dtype::i32, Dtype::f32},
                        .layout = Layout::rows},
                       {.name = "out",
                        .role = Role::out,
                        .shape = "rows",
                        .like = "in",
                        .layout = Layout::contiguous}}}};
}

}  // namespace ridge::warp_sum
