#include "operator/description.h"

namespace ridge::rearrange {

Operators operators() {
  const Formats all = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64,
                       Dtype::i32, Dtype::i64, Dtype::u32,  Dtype::u8};
  return {{.name = "reverse",
           .formula = "out[i] = in[n - 1 - i]",
           .dimensions = {{"n", "elements"}},
           .tensors =
               {{.name = "in", .shape = "n", .formats = all},
                {.name = "out", .role = Role::out, .shape = "n", .like = "in", .may_be = {"in"}}},
           .aliases = {"reverse_array", "reverse_in_place"},
           .header = "ridge/movement.h",
           .notes = "In place, the stride is 1 and elements have up to 4 bytes."},
          {.name = "swap",
           .formula = "x, y = y, x",
           .dimensions = {{"n", "elements, in any shape"}},
           .tensors = {{.name = "x", .role = Role::inout, .shape = "n...", .formats = all},
                       {.name = "y", .role = Role::inout, .shape = "n...", .like = "x"}},
           .header = "ridge/movement.h",
           .notes = "Both have stride 1 in the dimension in which x has its least stride."},
          {.name = "interleave",
           .formula = "out(..., 2 i) = a(..., i), out(..., 2 i + 1) = b(..., i)",
           .dimensions = {{"rows", "in any shape"}, {"n", "elements in a row of each input"}},
           .tensors = {{.name = "a", .shape = "rows..., n", .formats = all},
                       {.name = "b", .shape = "rows..., n", .like = "a"},
                       {.name = "out", .role = Role::out, .shape = "rows..., 2*n", .like = "a"}},
           .header = "ridge/movement.h"}};
}

}  // namespace ridge::rearrange
