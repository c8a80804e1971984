#include "operator/description.h"

namespace ridge::gemm {

Operators operators() {
  return {
      {.name = "gemm",
       .formula = "d = alpha a b + beta c",
       .dimensions = {{"batch", "products of the same sizes, each on matrices of its own"},
                      {"m", "rows of a and d"},
                      {"n", "columns of b and d"},
                      {"k", "columns of a and rows of b: what is summed over"}},
       .tensors = {{.name = "a",
                    .shape = "batch..., m, k",
                    .formats = kFloats,
                    .layout = Layout::matrix,
                    .meaning = "transposed where its columns are contiguous"},
                   {.name = "b", .shape = "batch..., k, n", .like = "a", .layout = Layout::matrix},
                   {.name = "d",
                    .role = Role::out,
                    .shape = "batch..., m, n",
                    .formats = kFloats,
                    .usually_like = "a",
                    .layout = Layout::matrix,
                    .may_be = {"c"},
                    .meaning = "in the format of a, or in f32"},
                   {.name = "c",
                    .shape = "batch..., m, n",
                    .like = "d",
                    .layout = Layout::matrix,
                    .optional = true,
                    .meaning = "with beta = 0 it is not read, and may be left out"}},
       .parameters = {{.name = "alpha", .otherwise = 1, .meaning = "factor of the product"},
                      {.name = "beta", .otherwise = 0, .meaning = "factor of c"}},
       .notes = "Products are summed in f32. Where k is 0, d = beta c."}};
}

}  // namespace ridge::gemm
