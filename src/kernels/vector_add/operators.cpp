#include "operator/description.h"

namespace ridge::vector_add {

Operators operators() {
  return {
      {.name = "add",
       .formula = "out = a + b",
       .dimensions = {{"n", "elements, in any shape"}},
       .tensors =
           {{.name = "a", .shape = "n...", .formats = kFloats},
            {.name = "b", .shape = "n...", .like = "a"},
            {.name = "out", .role = Role::out, .shape = "n...", .like = "a", .may_be = {"a", "b"}}},
       .aliases = {"vector_add", "matrix_add"},
       .header = "ridge/elementwise.h"}};
}

}  // namespace ridge::vector_add
