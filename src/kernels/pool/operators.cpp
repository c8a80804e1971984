#include "operator/description.h"

#include "kernels/pool/pool.h"

namespace ridge::pool {
namespace {

using Numbers = std::vector<int64_t>;
using Values = std::vector<double>;

std::string direction(int directions, int d) {
  return directions == 1 ? "length" : conv::kDirectionNames[conv::kDirections - directions + d];
}

// Sizes: batch, channels, then the directions, then the outputs. Parameters: kernel, stride,
// padding.
template <int kAt>
int64_t out(const Numbers& sizes, const Values& p) {
  const auto kernel = int64_t(p[0]), stride = int64_t(p[1] >= 1 ? p[1] : p[0]);
  return stride < 1 ? 0 : conv::out_size(sizes[2 + kAt], kernel, stride, int64_t(p[2]), 1);
}
constexpr decltype(&out<0>) kOut[] = {out<0>, out<1>, out<2>};

OperatorDef described(int op) {
  const int directions = directions_of(op);
  const std::string name = is_mean(op) ? "avg_pool" : "max_pool";
  std::string x = "batch, channels", y = x;
  OperatorDef def = {.name = name + std::to_string(directions) + "d",
                     .formula = {},
                     .dimensions = {{"batch"}, {"channels"}},
                     .tensors = {}};
  for (int d = 0; d < directions; ++d) {
    def.dimensions.push_back({direction(directions, d)});
    x += ", " + direction(directions, d);
    y += ", out_" + direction(directions, d);
  }
  for (int d = 0; d < directions; ++d)
    def.dimensions.push_back({"out_" + direction(directions, d),
                              "(size + 2 padding - kernel) / stride + 1", nullptr, kOut[d]});
  const auto tensor = [&](const char* called, Role role, const std::string& shape) {
    return TensorDef{.name = called,
                     .role = role,
                     .shape = shape,
                     .like = "x",
                     .layout = Layout::rows,
                     .row_dims = directions};
  };
  TensorDef first = tensor("x", Role::in, x);
  first.like = {};
  first.formats = kFloats;
  const std::string what = is_mean(op) ? "the mean" : "the maximum";
  if (!is_backward(op)) {
    def.formula = "y[n, c, o] = " + what + " over k of x[n, c, o stride + k - padding]";
    def.tensors = {first, tensor("y", Role::out, y)};
    def.backward = def.name + "_backward";
  } else {
    def.formula = "dx = the sum of dy over the windows " +
                  std::string(is_mean(op) ? "of an element, divided by their sizes"
                                          : "whose maximum an element is");
    def.name += "_backward";
    if (is_mean(op)) {
      TensorDef dx = tensor("dx", Role::out, x), dy = tensor("dy", Role::in, y);
      dy.like = {};
      dy.formats = kFloats;
      dx.like = "dy";
      def.tensors = {dy, dx};
    } else {
      first.meaning = "as the forward pass had it";
      def.tensors = {first, tensor("dy", Role::in, y), tensor("dx", Role::out, x)};
    }
  }
  const auto whole = [](const char* called, double otherwise, double least, const char* meaning) {
    return ParameterDef{.name = called,
                        .type = ParameterType::integer,
                        .otherwise = otherwise,
                        .least = least,
                        .most = 1 << 20,
                        .meaning = meaning};
  };
  def.parameters = {whole("kernel", 2, 1, "size of a window in every direction"),
                    whole("stride", 0, 0, "from one window to the next; 0: as kernel"),
                    whole("padding", 0, 0, "on each side, at most half of a window")};
  if (is_mean(op))
    def.parameters.push_back({.name = "count_padding",
                              .type = ParameterType::flag,
                              .otherwise = 1,
                              .meaning = "a mean counts padding as zeros"});
  else
    def.notes =
        "A maximum with a NaN is NaN. Its gradient goes to the first of equal maxima, or to the "
        "last NaN of the window.";
  return def;
}

}  // namespace

Operators operators() {
  Operators all;
  for (int op = 0; op < 12; ++op) all.push_back(described(op));
  return all;
}

}  // namespace ridge::pool
