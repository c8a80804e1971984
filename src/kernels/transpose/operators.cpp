#include "operator/description.h"

namespace ridge::transpose {

Operators operators() {
  const Formats up_to_4_bytes = {Dtype::f32, Dtype::f16, Dtype::bf16,
                                 Dtype::i32, Dtype::u32, Dtype::u8};
  return {
      {.name = "transpose",
       .formula = "out(..., c, r) = in(..., r, c)",
       .dimensions = {{"batch", "matrices, in any shape"}, {"rows", "of in"}, {"cols", "of in"}},
       .tensors =
           {{.name = "in", .shape = "batch..., rows, cols", .formats = up_to_4_bytes},
            {.name = "out", .role = Role::out, .shape = "batch..., cols, rows", .like = "in"}},
       .header = "ridge/movement.h",
       .notes = "A copy of a transposed view does the same, for formats of 8 bytes too."}};
}

}  // namespace ridge::transpose
