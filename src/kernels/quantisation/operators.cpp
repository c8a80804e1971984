#include "operator/description.h"

#include "kernels/quantisation/formats.h"

namespace ridge::quantisation {
namespace {

std::string shape_of(const Format& f) {
  return f.is_of_columns() || f.is_of_squares() || f.is_whole_tensor() ? "rows, cols"
                                                                       : "rows..., cols";
}
std::string scale_shape_of(const Format& f) {
  const int cols = f.info().block_cols;
  if (f.is_whole_tensor()) return "1";
  if (f.is_of_columns()) return "cols";
  if (f.is_of_squares()) return "ceil(rows/128), ceil(cols/128)";
  return cols == 0 ? "rows..." : "rows..., ceil(cols/" + std::to_string(cols) + ")";
}
int64_t groups_otherwise(const std::vector<int64_t>& sizes) {
  return groups_of(sizes[0] * ((sizes[1] + 63) / 64));
}

TensorDef f32(const char* name, Role role, const char* shape, const char* meaning) {
  return {.name = name,
          .role = role,
          .shape = shape,
          .formats = {Dtype::f32},
          .layout = Layout::contiguous,
          .meaning = meaning};
}

OperatorDef described(const Format& f, bool back) {
  const Role made = back ? Role::in : Role::out;
  // The scale of a whole tensor is an input where the caller knows it.
  const Role tensors = back ? Role::in : Role::inout;
  const TensorDef plain = {.name = back ? "y" : "x",
                           .role = back ? Role::out : Role::in,
                           .shape = shape_of(f),
                           .formats = kFloats,
                           .layout = Layout::rows};
  OperatorDef op = {.name = std::string(back ? "dequantise_" : "quantise_") + f.name,
                    .formula = back ? "y = q * scale" : "q = round(x / scale)",
                    .dimensions = {{"rows"}, {"cols"}},
                    .tensors = {},
                    .notes = std::string(f.about) + ". docs/quantisation.md has the definition."};
  if (!back) op.tensors.push_back(plain);
  const Dtype element = f.info().element;
  op.tensors.push_back(
      {.name = "q",
       .role = made,
       .shape = shape_of(f),
       .formats = f.may_be_e5m2 ? Formats{Dtype::e4m3, Dtype::e5m2} : Formats{element},
       .layout = Layout::contiguous,
       .meaning =
           bits_of(element) == 4 ? "two elements per byte, the first in the low nibble" : ""});
  op.tensors.push_back({.name = "scales",
                        .role = f.is_whole_tensor() ? tensors : made,
                        .shape = scale_shape_of(f),
                        .formats = {f.info().scale},
                        .layout = Layout::contiguous,
                        .meaning = "a factor of each block"});
  if (f.rule == Rule::shared)
    op.tensors.push_back(f32("tensor_scale", tensors, "1", "a factor of all scales"));
  if (f.rule == Rule::mean) {
    op.dimensions.push_back({"groups", "of 256 scales", groups_otherwise});
    op.tensors.push_back(f32("group_scales", made, "groups", "a factor of each 256 scales"));
    op.tensors.push_back(f32("mean", made, "1", "what is added to every scale"));
  }
  if (back) op.tensors.push_back(plain);
  if (!back && f.has_tensor_scale())
    op.parameters = {
        {.name = "given",
         .type = ParameterType::flag,
         .meaning = f.is_whole_tensor()
                        ? "scales is an input, not computed; x is read only once"
                        : "tensor_scale is an input, not computed; x is read only once"}};
  if (!back && f.is_whole_tensor())
    op.notes += " Unless the scale is given, x is read twice: for its largest magnitude first.";
  if (bits_of(element) == 4) op.notes += " More than one row: an even number of columns.";
  return op;
}

}  // namespace

// In the order that quantisation.h expects.
Operators operators() {
  Operators all;
  for (const bool back : {false, true})
    for (const Format& format : kFormats) all.push_back(described(format, back));
  return all;
}

}  // namespace ridge::quantisation
