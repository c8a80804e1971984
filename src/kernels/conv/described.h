// The sizes and parameters of convolutions, as the descriptions of conv and of its gradients have
// them.
#pragma once

#include <string>

#include "kernels/conv/conv.h"
#include "operator/description.h"

namespace ridge::conv {

inline std::string direction(int directions, int d) {
  return directions == 1 ? "length" : kDirectionNames[3 - directions + d];
}
inline std::string kernel(int directions, int d) {
  return directions == 1 ? "kernel" : "kernel_" + direction(directions, d);
}

// Dimensions stand in this order: batch, channels, sizes, filters, kernel, group_channels, outputs.
// Parameters: stride, padding, dilation, groups; then, for each further direction, its own three.
template <int kOf, int kAt>
int64_t out(const std::vector<int64_t>& sizes, const std::vector<double>& p) {
  const auto own = [&](size_t i, double least) {
    return kAt > 0 && p[4 + 3 * (kAt - 1) + i] >= least ? p[4 + 3 * (kAt - 1) + i] : p[i];
  };
  return out_size(sizes[2 + kAt], sizes[3 + kOf + kAt], int64_t(own(0, 1)), int64_t(own(1, 0)),
                  int64_t(own(2, 1)));
}
template <int kOf>
int64_t group_channels(const std::vector<int64_t>& sizes, const std::vector<double>& p) {
  return p[3] >= 1 ? sizes[1] / int64_t(p[3]) : 0;
}
template <int kOf>
int64_t as_first_kernel(const std::vector<int64_t>& sizes) {
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
  constexpr decltype(&out<kOf, 0>) kOut[] = {out<kOf, 0>, out < kOf, kOf - 1 ? 1 : 0 >,
                                             out<kOf, kOf - 1>};
  for (int d = 0; d < kOf; ++d)
    all.push_back({"out_" + direction(kOf, d),
                   "(size + 2 padding - dilation (kernel - 1) - 1) / stride + 1", nullptr,
                   kOut[d]});
  return all;
}

inline std::vector<ParameterDef> parameters(int directions) {
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

// The shapes of x, w and y, with the channels before the sizes or after them.
struct Shapes {
  std::string x, w, y;

  explicit Shapes(int directions, bool channels_last = false) {
    std::string of_x, of_w, of_y;
    for (int d = 0; d < directions; ++d) {
      of_x += ", " + direction(directions, d);
      of_w += ", " + kernel(directions, d);
      of_y += ", out_" + direction(directions, d);
    }
    const auto shape = [&](const char* first, const char* channels, const std::string& sizes) {
      return channels_last ? first + sizes + ", " + channels
                           : std::string(first) + ", " + channels + sizes;
    };
    x = shape("batch", "channels", of_x);
    w = shape("filters", "group_channels", of_w);
    y = shape("batch", "filters", of_y);
  }
};

}  // namespace ridge::conv
