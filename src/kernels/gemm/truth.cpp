#include "kernels/gemm/truth.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/gemm/gemm.h"

namespace ridge::gemm {
namespace {

// A function's value, and the size of its own errors where results have 32 bits: they are at most
// 14 roundings of it. A rounded exponent e makes a relative error of |e| roundings.
struct Made {
  double value, terms;
};
Made silu(double x) {
  const double value = x * (1 / (1 + std::exp(-x)));
  return {value, std::fabs(value) * (1 + std::fabs(x))};
}
Made gelu(double x) {
  const double cdf = std::erfc(-x * std::numbers::sqrt2 / 2) / 2;
  const double tail = std::erfc(std::fabs(x) * std::numbers::sqrt2 / 2) / 2;
  return {x * cdf, std::fabs(x) * (cdf + x * x * tail)};
}
Made gelu_tanh(double x) {
  const double exponent = 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  const double value = x * (1 / (1 + std::exp(-exponent)));
  return {value, std::fabs(value) * (1 + std::fabs(exponent))};
}
Made activated(Activation f, double x) {
  switch (f) {
    case Activation::relu: return {x < 0 ? 0 : x, 0};
    case Activation::gelu: return gelu(x);
    case Activation::gelu_tanh: return gelu_tanh(x);
    case Activation::silu: return silu(x);
    case Activation::none: break;
  }
  return {x, 0};
}
constexpr double kSteepest = 1.13;  // the largest slope of all of them: gelu's

Activation activation_of(const Case& c) {
  return c.op == kFused ? Activation(c.integer("activation")) : Activation::none;
}
bool is_smooth(Activation f) { return f != Activation::none && f != Activation::relu; }
bool is_wide(const Case& c) { return c.format("d") == Dtype::f32; }

// alpha, the scales and the bias.
Truth before_activation(const Case& c, const Truth& sum, const Terms& terms) {
  const double factor = c.number("alpha") * terms.row_scale * terms.col_scale;
  return {factor * sum.value + terms.bias,
          std::fabs(factor) * sum.magnitude + std::fabs(terms.bias)};
}

}  // namespace

Truth finished(const Case& c, const Truth& sum, const Terms& terms) {
  const Truth before = before_activation(c, sum, terms);
  const Activation f = activation_of(c);
  const Made made = activated(f, before.value);
  const double added = c.number("beta") != 0 ? c.number("beta") * terms.c : 0;
  const double steepness = is_smooth(f) ? kSteepest : 1;
  return {made.value + added,
          steepness * before.magnitude + (is_wide(c) ? made.terms : 0) + std::fabs(added)};
}

Truth gated(const Case& c, const Truth& gate, double gate_bias, const Truth& up, double up_bias) {
  const Truth x = before_activation(c, gate, {.bias = gate_bias});
  const Truth y = before_activation(c, up, {.bias = up_bias});
  const Made made = silu(x.value);
  // The last term is for both errors at once.
  const double both = x.magnitude * y.magnitude * roundings_of(c).arithmetic * 0x1p-24;
  return {made.value * y.value, (kSteepest * x.magnitude + made.terms) * std::fabs(y.value) +
                                    std::fabs(made.value) * y.magnitude + both};
}

Truth larger(const Truth& most, const Truth& element) {
  const double size = std::fabs(element.value);
  return {std::isnan(most.value) || size <= most.value ? most.value : size,
          std::max(most.magnitude, element.magnitude)};
}

// As for gemv: one rounding for each product that is added, then alpha, beta and their sum. The
// tensor cores stay within it: they add 16 products and the sum so far with an error of at most 17
// * 2^-25 times the largest of them, and cut off the result by at most 2^-23. Two scales and the
// bias make three more. An activation has up to 14 of its own, or with results of 16 bits an eighth
// of their rounding.
Roundings roundings_of(const Case& c) {
  const double sum = double(c.size("k")) + 3;
  // tf32 cuts off 13 bits: each factor changes by less than 2^-10 of it, which is 2^14 roundings.
  if (c.op == kGemm && c.format("a") == Dtype::f32 && c.integer("precision") == kTf32)
    return {sum + 2 * 0x1p14 * (1 + 0x1p-11), 1};
  if (c.op == kGemm) return {sum, 1};
  if (c.op == kFused && !is_smooth(activation_of(c))) return {sum + 3, 1};
  return {sum + 3 + 14, is_wide(c) ? 1 : 1.125};
}

}  // namespace ridge::gemm
