#include "operator/description.h"

namespace ridge::matmul_by_shuffles {

Operators operators() {
  return {{.name = "matmul_by_shuffles",
           .formula = "c[i] = a[i] b[i], matrices of 32 x 32",
           .dimensions = {{"batch", "products"}},
           .tensors = {
               {.name = "a",
                .shape = "batch, 32, 32",
                .formats = {Dtype::f32},
                .layout = Layout::contiguous},
               {.name = "b", .shape = "batch, 32, 32", .like = "a", .layout = Layout::contiguous},
               {.name = "c",
                .role = Role::out,
                .shape = "batch, 32, 32",
                .like = "a",
                .layout = Layout::contiguous}}}};
}

}  // namespace ridge::matmul_by_shuffles
