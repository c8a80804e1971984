#include "operator/description.h"

#include "kernels/conv/conv.h"

namespace ridge::conv {
namespace {

using Numbers = std::vector<int64_t>;
using Values = std::vector<double>;

std::string direction(int directions, int d) {
  return directions == 1 ? "length" : kDirectionNames[3 - directions + d];
}
std::string kernel(int directions, int d) {
  return directions == 1 ? "kernel" : "kernel_" + direction(directions, d);
}

// Dimensions stand in this order: batch, channels, sizes, filters, kernel, group_channels, outputs.
// Parameters: stride, padding, dilation, groups; then, for each further direction, its own three.
template <int kOf, int kAt>
int64_t out(const Numbers& sizes, const Values& p) {
  const auto own = [&](size_t i, double least) {
    return kAt > 0 && p[4 + 3 * (kAt - 1) + i] >= least ? p[4 + 3 * (kAt - 1) + i] : p[i];
  };
  return out_size(sizes[2 + kAt], sizes[3 + kOf + kAt], int64_t(own(0, 1)), int64_t(own(1, 0)),
                  int64_t(own(2, 1)));
}
template <int kOf>
int64_t group_channels(const Numbers& sizes, const Values& p) {
  return p[3] >= 1 ? sizes[1] / int64_t(p[3]) : 0;
}
template <int kOf>
int64_t as_first_kernel(const Numbers& sizes) {
  return sizes[3 + kOf];
}

template <int kOf>
std::vector<DimensionDef> dimensions() {
  std::vector<DimensionDef> all = {{"batch", "images"}, {"channels", "of x"}};
  for (int d = 0; d < kOf; ++d) all.push_back({direction(kOf, d), "of x"});
  all.push_back({"filters", "channels of y"});
  for (int d = 0; d < kOf; ++d)
    all.push_back({kernel(kOf, d), "taps", d ? as_first_kernel<kOf> : nullptr});
  all.push_back({"group_channels", "channels / groups", nullptr, group_channels<kOf>});
  constexpr decltype(&out<kOf, 0>) kOut[] = {out<kOf, 0>, out<kOf, kOf - 1 ? 1 : 0>,
                                             out<kOf, kOf - 1>};
  for (int d = 0; d < kOf; ++d)
    all.push_back({"out_" + direction(kOf, d),
                   "(size + 2 padding - dilation (kernel - 1) - 1) / stride + 1", nullptr,
                   kOut[d]});
  return all;
}

std::vector<ParameterDef> parameters(int directions) {
  const auto whole = [](std::string name, double otherwise, double least, std::string meaning) {
    return ParameterDef{.name = std::move(name),
                        .type = ParameterType::integer,
                        .otherwise = otherwise,
                        .least = least,
                        .most = 1 << 20,
                        .meaning = std::move(meaning)};
  };
  std::vector<ParameterDef> all = {
      whole("stride", 1, 1, "inputs from one output to the next"),
      whole("padding", 0, 0, "zeros on each side"),
      whole("dilation", 1, 1, "inputs from one tap to the next"),
      whole("groups", 1, 1, "each filter sees channels / groups channels")};
  for (int d = 1; d < directions; ++d) {
    const std::string name = direction(directions, d);
    all.push_back(whole("stride_" + name, 0, 0, "along the " + name + "; 0: as stride"));
    all.push_back(whole("padding_" + name, -1, -1, "along the " + name + "; -1: as padding"));
    all.push_back(whole("dilation_" + name, 0, 0, "along the " + name + "; 0: as dilation"));
  }
  return all;
}

template <int kOf>
OperatorDef described(bool channels_last) {
  std::string x, w, y;
  for (int d = 0; d < kOf; ++d) {
    x += ", " + direction(kOf, d);
    w += ", " + kernel(kOf, d);
    y += ", out_" + direction(kOf, d);
  }
  const auto shape = [&](std::string first, std::string channels, const std::string& sizes) {
    return channels_last ? first + sizes + ", " + channels : first + ", " + channels + sizes;
  };
  return {.name = "conv" + std::to_string(kOf) + "d" + (channels_last ? "_nhwc" : ""),
          .formula = "y[n, f, o] = bias[f] + sum over c, k of w[f, c, k] x[n, c, o stride + k "
                     "dilation - padding]",
          .dimensions = dimensions<kOf>(),
          .tensors = {{.name = "x", .shape = shape("batch", "channels", x), .formats = kFloats},
                      {.name = "w",
                       .shape = shape("filters", "group_channels", w),
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
                      {.name = "y",
                       .role = Role::out,
                       .shape = shape("batch", "filters", y),
                       .like = "x"}},
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
