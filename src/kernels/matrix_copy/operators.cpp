#include "operator/description.h"

namespace ridge::matrix_copy {

Operators operators() {
  const Formats all = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64,
                       Dtype::i32, Dtype::i64, Dtype::u32,  Dtype::u8};
  return {{.name = "copy",
           .formula = "out = in",
           .dimensions = {{"n", "elements, in any shape"}},
           .tensors = {{.name = "in", .shape = "n...", .formats = all},
                       {.name = "out", .role = Role::out, .shape = "n...", .like = "in"}},
           .aliases = {"matrix_copy"},
           .header = "ridge/movement.h",
           .notes = "A copy is also how a permuted or turned view is laid out anew. Rows with gaps "
                    "take one launch, and so do transposed matrices; what fits neither takes one "
                    "launch for each line along the longest dimension."}};
}

}  // namespace ridge::matrix_copy
