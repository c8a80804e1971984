#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/number.h"
#include "kernels/activation/activation.h"
#include "ladder/ladder.h"

namespace ridge::activation {
namespace {

// A result and what its error is relative to: the sum of its terms' sizes, where they cancel.
struct Truth {
  double value;
  double terms;
  // What more f32 has to be allowed: the change that rounding the exponent inside makes. Exponents
  // are products of x, so a unit there is their size in units of the result.
  double exponent = 0;
};
Truth truth(double value) { return {value, std::fabs(value)}; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double lower_tail(double x) { return std::erfc(-x * std::numbers::sqrt2 / 2) / 2; }  // Phi
double density(double x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
double tanh_argument(double x) {  // twice that of gelu_tanh: what sigmoid takes
  return 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

Truth forward(const Args& a, double x) {
  const double alpha = a.alpha, beta = a.beta;
  switch (a.function) {
    case Function::relu: return truth(x < 0 ? 0 : x);
    case Function::leaky_relu: return truth(x > 0 ? x : x * alpha);
    case Function::hardtanh:
    case Function::clip: return truth(x < alpha ? alpha : x > beta ? beta : x);
    case Function::sigmoid: return truth(sigmoid(x));
    case Function::tanh: return truth(std::tanh(x));
    case Function::gelu: {
      const double y = x * lower_tail(x);
      return {y, std::fabs(y), std::fabs(x) * lower_tail(-std::fabs(x)) * x * x};
    }
    case Function::gelu_tanh: {
      const double u = tanh_argument(x), y = x * sigmoid(u);
      return {y, std::fabs(y), std::fabs(y * u) * sigmoid(-u)};
    }
    case Function::silu: return truth(x * sigmoid(x));
    case Function::elu: return truth(x > 0 ? x : alpha * std::expm1(x));
    case Function::softplus: {
      const double z = float(a.alpha * float(x));  // as compared to the threshold
      if (z > beta) return truth(x);
      const double y = std::log1p(std::exp(alpha * x)) / alpha;
      return {y, y, std::fabs(x) * sigmoid(z)};
    }
  }
  return {};
}

Truth backward(const Args& a, double x, double dy) {
  const double alpha = a.alpha, beta = a.beta, size = std::fabs(dy);
  switch (a.function) {
    case Function::relu: return truth(x <= 0 ? 0 : dy);
    case Function::leaky_relu: return truth(x > 0 ? dy : dy * alpha);
    case Function::hardtanh: return truth(x <= alpha || x >= beta ? 0 : dy);
    case Function::clip: return truth(x >= alpha && x <= beta ? dy : 0);
    case Function::sigmoid: return truth(dy * sigmoid(x) * sigmoid(-x));
    case Function::tanh: return truth(dy * 4 * sigmoid(2 * x) * sigmoid(-2 * x));
    case Function::gelu: {
      const double bell = x * density(x), tail = lower_tail(-std::fabs(x));
      return {dy * (lower_tail(x) + bell), size * (lower_tail(x) + std::fabs(bell)),
              size * x * x * (tail + std::fabs(bell))};
    }
    case Function::gelu_tanh: {
      // u' overflows where the slope it belongs to has long been 0.
      const double u = tanh_argument(x), s = sigmoid(u), steep = s * sigmoid(-u);
      const double du = 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
      const double bell = x * steep * du;
      return {dy * (s + bell), size * (s + std::fabs(bell)),
              size * std::fabs(u) * (steep + std::fabs(bell))};
    }
    case Function::silu: {
      const double s = sigmoid(x), bell = x * sigmoid(-x);
      return {dy * s * (1 + bell), size * s * (1 + std::fabs(bell))};
    }
    case Function::elu: return truth(x <= 0 ? dy * alpha * std::exp(x) : dy);
    case Function::softplus: {
      const double z = float(a.alpha * float(x));
      if (z > beta) return truth(dy);
      const double s = sigmoid(alpha * x), y = dy * s;
      return {y, std::fabs(y), std::fabs(y * z) * sigmoid(-z)};
    }
  }
  return {};
}

// Function and parameters, which kernels hold in f32.
Args args_of(const Case& c) {
  const auto parameter = [&](size_t p) {
    return p < c.def->parameters.size() ? float(c.number(c.def->parameters[p].name)) : 0.0f;
  };
  return {.function = function_of(c.op),
          .backward = is_backward(c.op),
          .alpha = parameter(0),
          .beta = parameter(1)};
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const Args args = args_of(c);
  HostTensor& out = t.back();
  const bool exact = out.spec.rounding == 0;
  // A factor under the least normal number may have become 0 on the way, where the others are x or
  // its cube; behind 128 that factor is 0 in truth.
  const double flushed = 0x1p-126 / unit_roundoff(c.dtype);
  if (!exact) out.magnitude.resize(out.values.size());
  for (size_t i = 0; i < out.values.size(); ++i) {
    const double x = t[0].values[i], dy = args.backward ? t[1].values[i] : 0;
    const Truth y = args.backward ? backward(args, x, dy) : forward(args, x);
    out.values[i] = y.value;
    if (exact) continue;
    const double magnitude = y.terms + (c.dtype == Dtype::f32 ? y.exponent : 0);
    const double others = (1 + std::pow(std::min(std::fabs(x), 128.0), 3)) * (1 + std::fabs(dy));
    out.magnitude[i] = std::max(magnitude, flushed * others);
  }
}

}  // namespace ridge::activation
