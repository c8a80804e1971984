#include "operator/description.h"

namespace ridge::gemv_t {

Operators operators() {
  return {{.name = "gemv_t",
           .formula = "y = alpha transpose(A) x + beta y",
           .dimensions = {{"rows"}, {"cols"}},
           .tensors =
               {{.name = "a", .shape = "rows, cols", .formats = kFloats, .layout = Layout::matrix},
                {.name = "x", .shape = "rows", .like = "a", .layout = Layout::contiguous},
                {.name = "y",
                 .role = Role::inout,
                 .shape = "cols",
                 .like = "a",
                 .layout = Layout::contiguous,
                 .meaning = "with beta = 0 it is not read: whatever was there, even NaN, is gone"}},
           .parameters = {{.name = "alpha", .otherwise = 1, .meaning = "factor of the product"},
                          {.name = "beta", .otherwise = 0, .meaning = "factor of what y was"}},
           .aliases = {"gemv_t_update"},
           .header = "ridge/linear.h",
           .notes = "Computed in f32. Where rows is 0, y = beta y."}};
}

}  // namespace ridge::gemv_t
