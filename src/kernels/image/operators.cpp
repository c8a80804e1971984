#include "operator/description.h"

namespace ridge::image {
namespace {

TensorDef bytes(const char* name, Role role, int channels) {
  TensorDef tensor = {.name = name, .role = role, .layout = Layout::rows};
  tensor.shape = channels == 3 ? "height, width, 3" : "height, width";
  tensor.row_dims = channels == 3 ? 2 : 1;
  tensor.meaning = channels == 3 ? "red, green and blue of every pixel" : "one level per pixel";
  if (role == Role::in) tensor.formats = {Dtype::u8};
  else tensor.like = "in";
  return tensor;
}

OperatorDef on_images(const char* name, const char* formula, int in_channels, int out_channels,
                      const char* notes) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"height", "rows of pixels"}, {"width", "pixels of a row"}},
          .tensors = {bytes("in", Role::in, in_channels), bytes("out", Role::out, out_channels)},
          .notes = notes};
}

}  // namespace

// In the order of Op.
Operators operators() {
  return {on_images("rgb_invert", "out = 255 - in", 3, 3, ""),
          on_images("rgb_to_gray", "out = (77 r + 150 g + 29 b + 128) / 256, rounded down", 3, 1,
                    "The weights are 0.299, 0.587 and 0.114 in 256ths; halves are rounded up."),
          on_images("blur_box", "out = the mean of the 9 x 9 pixels around each", 1, 1,
                    "Rounded to the nearest. Outside the image its border pixels are repeated."),
          on_images("blur_gaussian",
                    "out = the sum of 9 x 9 pixels, weighted with C(8, i) C(8, j) / 65536", 1, 1,
                    "Halves are rounded up. Outside the image its border pixels are repeated.")};
}

}  // namespace ridge::image
