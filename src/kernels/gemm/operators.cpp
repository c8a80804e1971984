#include "operator/description.h"

namespace ridge::gemm {
namespace {

std::vector<DimensionDef> dimensions(const char* n) {
  return {{"batch", "products of the same sizes, each on matrices of its own"},
          {"m", "rows of a and d"},
          {"n", n},
          {"k", "columns of a and rows of b: what is summed over"}};
}

TensorDef matrix_a() {
  return {.name = "a",
          .shape = "batch..., m, k",
          .formats = kFloats,
          .layout = Layout::matrix,
          .meaning = "transposed where its columns are contiguous"};
}
TensorDef matrix_b(const char* shape) {
  return {.name = "b", .shape = shape, .like = "a", .layout = Layout::matrix};
}
TensorDef matrix_d(Layout layout) {
  return {.name = "d",
          .role = Role::out,
          .shape = "batch..., m, n",
          .formats = kFloats,
          .usually_like = "a",
          .layout = layout,
          .meaning = "in the format of a, or in f32"};
}
TensorDef matrix_c() {
  return {.name = "c",
          .shape = "batch..., m, n",
          .like = "d",
          .layout = Layout::matrix,
          .optional = true,
          .meaning = "with beta = 0 it is not read, and may be left out"};
}
TensorDef vector(const char* name, const char* shape, const char* meaning) {
  return {.name = name,
          .shape = shape,
          .formats = {Dtype::f32},
          .layout = Layout::unit_last,
          .optional = true,
          .on_request = true,
          .meaning = meaning};
}
TensorDef bias(const char* shape) {
  TensorDef bias = vector("bias", shape, "one number for each column of a b");
  bias.formats = {};
  bias.like = "d";
  return bias;
}

ParameterDef alpha() {
  return {.name = "alpha", .otherwise = 1, .meaning = "factor of the product"};
}
ParameterDef beta() { return {.name = "beta", .otherwise = 0, .meaning = "factor of c"}; }

OperatorDef gemm() {
  OperatorDef op = {
      .name = "gemm",
      .formula = "d = alpha a b + beta c",
      .dimensions = dimensions("columns of b and d"),
      .tensors = {matrix_a(), matrix_b("batch..., k, n"), matrix_d(Layout::matrix), matrix_c()},
      .parameters = {alpha(),
                     beta(),
                     {.name = "precision",
                      .type = ParameterType::choice,
                      .choices = {"full", "tf32"},
                      .meaning = "tf32: factors in f32 may lose their last 13 bits"}},
      .notes = "Products are summed in f32. Where k is 0, d = beta c. With precision = tf32, f32 is "
               "multiplied by tensor cores, which see 10 bits of fraction, where that is faster."};
  op.tensors[2].may_be = {"c"};
  return op;
}

OperatorDef gemm_fused() {
  TensorDef amax = vector("amax", "batch..., m", "the largest |d| of each row; NaN if one is NaN");
  amax.role = Role::out;
  OperatorDef op = {
      .name = "gemm_fused",
      .formula = "d = activation(row_scale col_scale alpha a b + bias) + beta c",
      .dimensions = dimensions("columns of b and d"),
      .tensors = {matrix_a(), matrix_b("batch..., k, n"), matrix_d(Layout::unit_last),
                  bias("batch..., n"),
                  vector("row_scale", "batch..., m", "one factor for each row of a b"),
                  vector("col_scale", "batch..., n", "one factor for each column of a b"),
                  matrix_c(), amax},
      .parameters = {alpha(),
                     beta(),
                     {.name = "activation",
                      .type = ParameterType::choice,
                      .choices = {"none", "relu", "gelu", "gelu_tanh", "silu"},
                      .meaning = "as the operators of these names"}},
      .notes =
          "gemm with an epilogue: what is done to the sums before they are stored. All of it "
          "is computed in f32, and d is rounded once. amax is that of the rounded numbers."};
  op.tensors[2].may_be = {"c"};
  return op;
}

OperatorDef gemm_swiglu() {
  return {.name = "gemm_swiglu",
          .formula = "d = silu(gate) up, where alpha a b + bias has gate and up in turns",
          .dimensions = dimensions("columns of d; b has twice as many"),
          .tensors = {matrix_a(), matrix_b("batch..., k, 2*n"), matrix_d(Layout::unit_last),
                      bias("batch..., 2*n")},
          .parameters = {alpha()},
          .notes =
              "Columns 2 j and 2 j + 1 of b are those of gate and up for column j of d, so "
              "that one thread has both. Weights are laid out this way once: in PyTorch, "
              "torch.stack((gate, up), dim=-1).flatten(-2)."};
}

}  // namespace

// In the order of gemm::Kind.
Operators operators() { return {gemm(), gemm_fused(), gemm_swiglu()}; }

}  // namespace ridge::gemm
