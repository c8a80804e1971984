// In the f32 steps of the definition: fake_quantise.h.
#include <algorithm>
#include <cmath>

#include "core/number.h"
#include "kernels/fake_quantise/fake_quantise.h"
#include "ladder/ladder.h"

namespace ridge::fake_quantise {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto find = [&](const char* name) -> HostTensor* {
    for (HostTensor& one : t)
      if (one.spec.name == name) return &one;
    return nullptr;
  };
  const bool is_fp8 = op_of(c.op) == Op::fp8, back = is_backward(c.op);
  const Dtype format = is_fp8 && c.integer("format") == 1 ? Dtype::e5m2 : Dtype::e4m3;
  const float low = is_fp8 ? -float(largest(format)) : float(c.integer("low"));
  const float high = is_fp8 ? float(largest(format)) : float(c.integer("high"));
  const std::vector<double>& x = find("x")->values;
  std::vector<double>& out = find(back ? "dx" : "y")->values;
  const HostTensor* const zero_point = is_fp8 ? nullptr : find("zero_point");
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = op_of(c.op) == Op::rows ? i / size_t(c.size("cols")) : 0;
    const auto scale = float(find("scale")->values[row]);
    const auto zero = zero_point ? float(zero_point->values[row]) : 0.0f;
    const float inverse = 1 / scale, s = float(x[i]) * inverse;
    const float q = is_fp8 ? s : std::nearbyintf(s) + zero;
    if (back) {
      out[i] = q >= low && q <= high ? find("dy")->values[i] : 0;
    } else if (std::isnan(s)) {
      out[i] = NAN;
    } else if (is_fp8) {
      out[i] = double(float(rounded(format, double(s), {.overflow = Overflow::saturate})) * scale);
    } else {
      out[i] = double((std::min(std::max(q, low), high) - zero) * scale);
    }
  }
}

}  // namespace ridge::fake_quantise
