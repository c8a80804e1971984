#include <cmath>

#include "core/number.h"
#include "kernels/adamw/family.h"

namespace ridge::adamw {
namespace {

// The square of a gradient may be beyond f32, which its state is not.
double held(double x) {
  const double in_f32 = rounded(Dtype::f32, x);
  return std::isinf(in_f32) ? in_f32 : x;
}

}  // namespace

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  std::vector<void*> nowhere(t.size());
  Case one = c;
  one.op = 0;
  const Args a = bind(one, nowhere);
  const double correction1 = 1 - std::pow(a.beta1, double(a.step));
  const double correction2 = 1 - std::pow(a.beta2, double(a.step));
  const size_t n = size_t(c.shape[0]), shift = size_t(gradient_shift(c));
  for (size_t k = 1; k < t.size(); ++k) t[k].magnitude.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const double g = t[0].values[i + shift], m = t[1].values[i], v = t[2].values[i],
                 w = t[3].values[i];
    const double new_m = a.beta1 * m + (1 - a.beta1) * g;
    const double new_v = held(a.beta2 * v + held((1 - a.beta2) * g * g));
    const double size = std::sqrt(new_v / correction2) + a.eps;
    const double kept = (1 - a.lr * a.weight_decay) * w;
    const double new_w = kept - a.lr / correction1 * new_m / size;
    // m and w are sums of two numbers of either sign.
    const double m_terms = a.beta1 * std::fabs(m) + (1 - a.beta1) * std::fabs(g);
    t[1].values[i] = new_m;
    t[1].magnitude[i] = m_terms;
    t[2].values[i] = new_v;
    t[2].magnitude[i] = std::fabs(new_v);
    for (size_t k = 3; k < t.size(); ++k) {
      t[k].values[i] = new_w;
      // A subnormal m has lost digits: one of its units counts as a unit of 2^-125.
      t[k].magnitude[i] = std::fabs(kept) + a.lr / correction1 * (m_terms + 0x1p-125) / size;
    }
  }
}

}  // namespace ridge::adamw
