#include "kernels/conv/described.h"

namespace ridge::conv {
namespace {

template <int kOf>
OperatorDef described(bool channels_last) {
  const Shapes shapes(kOf, channels_last);
  return {.name = "conv" + std::to_string(kOf) + "d" + (channels_last ? "_nhwc" : ""),
          .formula =
              "y[n, f, o] = bias[f] + sum over c, k of w[f, c, k] x[n, c, o stride + k "
              "dilation - padding]",
          .dimensions = dimensions<kOf>(),
          .tensors = {{.name = "x", .shape = shapes.x, .formats = kFloats},
                      {.name = "w",
                       .shape = shapes.w,
                       .like = "x",
                       .layout = Layout::contiguous,
                       .row_dims = 2 + kOf,
                       .meaning = "the filters"},
                      {.name = "bias",
                       .shape = "filters",
                       .like = "x",
                       .layout = Layout::contiguous,
                       .optional = true,
                       .meaning = "one summand per filter; left out: 0"},
                      {.name = "y", .role = Role::out, .shape = shapes.y, .like = "x"}},
          .parameters = parameters(kOf),
          .notes = std::string("Sums are computed in f32 and rounded once. Outside of the image "
                               "there are zeros, which are multiplied like any other number.") +
                   (channels_last ? " The channels are the last dimension of x, w and y." : "")};
}

}  // namespace

// In the order of conv::Op.
Operators operators() {
  return {described<1>(false), described<2>(false), described<3>(false), described<2>(true)};
}

}  // namespace ridge::conv
