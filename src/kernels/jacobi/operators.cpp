#include "operator/description.h"

namespace ridge::jacobi {
namespace {

OperatorDef described(bool is_3d) {
  const std::string shape = is_3d ? "depth, height, width" : "height, width";
  OperatorDef op = {
      .name = is_3d ? "jacobi3d" : "jacobi2d",
      .formula = std::string("y = x, then several times, of all inner elements: y = the mean of "
                             "the ") +
                 (is_3d ? "6" : "4") + " neighbours of each",
      .dimensions = {},
      .tensors = {{.name = "x",
                   .shape = shape,
                   .formats = {Dtype::f32},
                   .layout = Layout::contiguous,
                   .row_dims = 3},
                  {.name = "y",
                   .role = Role::out,
                   .shape = shape,
                   .like = "x",
                   .layout = Layout::contiguous,
                   .row_dims = 3}},
      .parameters = {{.name = "iterations",
                      .type = ParameterType::integer,
                      .otherwise = 1,
                      .least = 0,
                      .most = 1 << 20,
                      .meaning = "how often"}},
      .notes = "Elements of the border keep their values. Computed in f32."};
  if (is_3d) op.dimensions.push_back({"depth"});
  op.dimensions.push_back({"height"});
  op.dimensions.push_back({"width"});
  return op;
}

}  // namespace

// In the order of jacobi::Op.
Operators operators() { return {described(false), described(true)}; }

}  // namespace ridge::jacobi
