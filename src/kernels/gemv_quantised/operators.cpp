#include "operator/description.h"

#include "kernels/quantisation/formats.h"

namespace ridge::gemv_quantised {
namespace {

using quantisation::Format;
using quantisation::Rule;

OperatorDef described(const Format& f) {
  const int cols = f.info().block_cols;
  const Dtype element = f.info().element;
  const auto weight = [](const char* name, std::string shape, Formats formats,
                         const char* meaning) {
    return TensorDef{.name = name,
                     .shape = std::move(shape),
                     .formats = std::move(formats),
                     .layout = Layout::contiguous,
                     .meaning = meaning};
  };
  OperatorDef op = {
      .name = std::string("gemv_") + f.name,
      .formula = "y = (q * scale) x",
      .dimensions = {{"rows"}, {"cols"}},
      .tensors = {{.name = "x", .shape = "cols", .formats = kFloats, .layout = Layout::contiguous}},
      .notes = std::string("Weights: ") + f.about + ", as quantise_" + f.name +
               " makes them. Computed in f32."};
  op.tensors.push_back(weight(
      "q", "rows, cols", f.may_be_e5m2 ? Formats{Dtype::e4m3, Dtype::e5m2} : Formats{element},
      bits_of(element) == 4 ? "two elements per byte, the first in the low nibble" : ""));
  op.tensors.push_back(weight("scales",
                              f.is_whole_tensor() ? "1"
                              : f.is_of_columns() ? "cols"
                              : f.is_of_squares() ? "ceil(rows/128), ceil(cols/128)"
                              : cols == 0         ? "rows"
                                                  : "rows, ceil(cols/" + std::to_string(cols) + ")",
                              {f.info().scale}, "a factor of each block of a"));
  if (f.rule == Rule::shared)
    op.tensors.push_back(weight("tensor_scale", "1", {Dtype::f32}, "a factor of all scales"));
  if (f.rule == Rule::mean) {
    op.dimensions.push_back({"groups", "of 256 scales", [](const std::vector<int64_t>& sizes) {
                               return quantisation::groups_of(sizes[0] * ((sizes[1] + 63) / 64));
                             }});
    op.tensors.push_back(
        weight("group_scales", "groups", {Dtype::f32}, "a factor of each 256 scales"));
    op.tensors.push_back(weight("mean", "1", {Dtype::f32}, "what is added to every scale"));
  }
  op.tensors.push_back(
      {.name = "y", .role = Role::out, .shape = "rows", .like = "x", .layout = Layout::contiguous});
  if (bits_of(element) == 4) op.notes += " More than one row: an even number of columns.";
  return op;
}

}  // namespace

// In the order of kFormats.
Operators operators() {
  Operators all;
  for (const Format& format : quantisation::kFormats) all.push_back(described(format));
  return all;
}

}  // namespace ridge::gemv_quantised
