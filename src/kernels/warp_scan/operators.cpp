#include "operator/description.h"

namespace ridge::warp_scan {

Operators operators() {
  return {{.name = "warp_scan",
           .formula = "out[r, c] = in[r, 0] + … + in[r, c]",
           .dimensions = {{"rows", "of 32 numbers each"}},
           .tensors = {{.name = "in",
                        .shape = "rows, 32",
                        .formats = {Dtype::i32, Dtype::f32},
                        .layout = Layout::rows},
                       {.name = "out",
                        .role = Role::out,
                        .shape = "rows, 32",
                        .like = "in",
                        .layout = Layout::rows}}}};
}

}  // namespace ridge::warp_scan
