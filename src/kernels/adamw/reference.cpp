#include <cmath>

#include "core/number.h"
#include "ladder/ladder.h"

namespace ridge::adamw {
namespace {

// The square of a gradient may be beyond f32, which its state is not.
double held(double x) {
  const double in_f32 = rounded(Dtype::f32, x);
  return std::isinf(in_f32) ? in_f32 : x;
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const double lr = c.number("lr"), beta1 = c.number("beta1"), beta2 = c.number("beta2");
  const double step = c.number("step");
  const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  HostTensor &weight = t[0], &grad = t[1], &mean = t[2], &squares = t[3];
  HostTensor& updated = t.size() == 5 ? t[4] : weight;  // the master of bf16 weights
  const size_t n = grad.values.size();
  for (HostTensor* out : {&weight, &mean, &squares, &updated}) out->magnitude.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const double g = grad.values[i], m = mean.values[i], v = squares.values[i],
                 w = updated.values[i];
    const double new_m = beta1 * m + (1 - beta1) * g;
    const double new_v = held(beta2 * v + held((1 - beta2) * g * g));
    const double size = std::sqrt(new_v / correction2) + c.number("eps");
    const double kept = (1 - lr * c.number("weight_decay")) * w;
    const double new_w = kept - lr / correction1 * new_m / size;
    // m and w are sums of two numbers of either sign.
    const double m_terms = beta1 * std::fabs(m) + (1 - beta1) * std::fabs(g);
    mean.values[i] = new_m;
    mean.magnitude[i] = m_terms;
    squares.values[i] = new_v;
    squares.magnitude[i] = std::fabs(new_v);
    for (HostTensor* out : {&weight, &updated}) {
      out->values[i] = new_w;
      // A subnormal m has lost digits: one of its units counts as a unit of 2^-125.
      out->magnitude[i] = std::fabs(kept) + lr / correction1 * (m_terms + 0x1p-125) / size;
    }
  }
}

}  // namespace ridge::adamw
