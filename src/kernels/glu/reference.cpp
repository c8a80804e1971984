#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/number.h"
#include "kernels/glu/glu.h"
#include "ladder/ladder.h"

namespace ridge::glu {
namespace {

// Value and slope of the gate's function, and what their errors are relative to: the sizes of the
// terms, and in f32 also of what a rounded exponent does to them.
struct Function {
  double value, slope, value_terms, slope_terms;
};
Function silu(double x) {
  const double s = 1 / (1 + std::exp(-x)), bell = x / (1 + std::exp(x));
  return {x * s, s * (1 + bell), std::fabs(x * s), s * (1 + std::fabs(bell))};
}
Function gelu(double x, bool wide) {
  const double cdf = std::erfc(-x * std::numbers::sqrt2 / 2) / 2;
  const double tail = std::erfc(std::fabs(x) * std::numbers::sqrt2 / 2) / 2;
  const double bell = x * std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  const double exponent = wide ? x * x : 0;
  return {x * cdf, cdf + bell, std::fabs(x) * (cdf + exponent * tail),
          cdf + std::fabs(bell) + exponent * (tail + std::fabs(bell))};
}

// Factors are f32: beyond its largest number they are infinite, and under half its least 0, which
// shows where they meet a 0 or an infinity.
double held(double x) {
  const double in_f32 = rounded(Dtype::f32, x);
  return std::isinf(in_f32) || in_f32 == 0 ? in_f32 : x;
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const bool packed = c.op & kPacked, backward = c.op & kBackward, wide = c.dtype == Dtype::f32;
  const size_t cols = size_t(c.size("cols")), n = size_t(c.size("rows")) * cols;
  // A factor under the least normal number may have become 0 on the way.
  const double flushed = 0x1p-126 / unit_roundoff(c.dtype);
  for (HostTensor& tensor : t)
    if (tensor.spec.role == Role::out) tensor.magnitude.resize(tensor.values.size());
  const auto set = [&](HostTensor& tensor, size_t i, double value, double size, double factors) {
    tensor.values[i] = value;
    tensor.magnitude[i] = std::max(size, flushed * factors);
  };
  for (size_t i = 0; i < n; ++i) {
    const size_t at_gate = packed ? i / cols * 2 * cols + i % cols : i;
    const size_t at_up = packed ? at_gate + cols : i;
    const double gate = t[0].values[at_gate], up = t[packed ? 0 : 1].values[at_up];
    const Function f = c.op & kGelu ? gelu(gate, wide) : silu(gate);
    const double larger = 1 + std::min(std::fabs(gate), 128.0);
    if (!backward) {
      set(t.back(), i, held(f.value) * up, f.value_terms * std::fabs(up),
          larger * (1 + std::fabs(up)));
      continue;
    }
    const double dy = t[packed ? 1 : 2].values[i], grad = std::fabs(dy);
    HostTensor& dgate = t[packed ? 2 : 3];
    HostTensor& dup = t[packed ? 2 : 4];
    set(dgate, at_gate, held(dy * up) * held(f.slope), grad * std::fabs(up) * f.slope_terms,
        larger * (1 + std::fabs(up)) * (1 + grad));
    set(dup, at_up, dy * held(f.value), grad * f.value_terms, larger * (1 + grad));
  }
}

}  // namespace ridge::glu
