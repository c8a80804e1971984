#include "kernels/conv/described.h"
#include "operator/description.h"

namespace ridge::conv_backward {
namespace {

template <int kOf>
OperatorDef described(bool weights) {
  const conv::Shapes shapes(kOf);
  const std::string name = "conv" + std::to_string(kOf) + "d_backward_";
  const TensorDef gradient = {
      .name = "dy", .shape = shapes.y, .formats = kFloats, .meaning = "the gradient of y"};
  OperatorDef op = {.name = name + (weights ? "weights" : "data"),
                    .formula = weights ? "dw[f, c, k] = sum over n, o of dy[n, f, o] x[n, c, o "
                                         "stride + k dilation - padding], dbias = sum dy"
                                       : "dx[n, c, i] = sum over f, k of w[f, c, k] dy[n, f, o], "
                                         "where o stride + k dilation - padding = i",
                    .dimensions = conv::dimensions<kOf>(),
                    .tensors = {gradient},
                    .parameters = conv::parameters(kOf),
                    .notes = "Sums are computed in f32, in the same order in every run."};
  if (weights) {
    op.tensors.push_back({.name = "x", .shape = shapes.x, .like = "dy"});
    op.tensors.push_back({.name = "dw",
                          .role = Role::out,
                          .shape = shapes.w,
                          .formats = {Dtype::f32},
                          .layout = Layout::contiguous,
                          .row_dims = 2 + kOf,
                          .meaning = "the gradient of w"});
    op.tensors.push_back({.name = "dbias",
                          .role = Role::out,
                          .shape = "filters",
                          .formats = {Dtype::f32},
                          .layout = Layout::contiguous,
                          .optional = true,
                          .meaning = "the gradient of bias"});
  } else {
    op.tensors.push_back({.name = "w",
                          .shape = shapes.w,
                          .like = "dy",
                          .layout = Layout::contiguous,
                          .row_dims = 2 + kOf,
                          .meaning = "the filters"});
    op.tensors.push_back({.name = "dx",
                          .role = Role::out,
                          .shape = shapes.x,
                          .like = "dy",
                          .meaning = "the gradient of x"});
  }
  return op;
}

}  // namespace

Operators operators() {
  return {described<1>(false), described<2>(false), described<3>(false),
          described<1>(true),  described<2>(true),  described<3>(true)};
}

}  // namespace ridge::conv_backward
