#include <cmath>

#include "core/number.h"
#include "kernels/rope/angle.h"
#include "ladder/ladder.h"

namespace ridge::rope {
namespace {

void turn(const Case& c, int64_t heads, const HostTensor& in, HostTensor& out) {
  const int64_t seq = c.size("seq"), dim = c.size("dim"), pairs = dim / 2;
  const int64_t first = c.integer("first_position");
  const double base = c.number("base");
  const bool interleaved = c.flag("interleaved"), backward = c.op == 1;
  // In units of the format's roundoff: 1 for the result, and in f32 4 of the sizes of its two terms
  // (the cosine's error and two roundings). An angle that was itself computed in f32 (the first
  // rung's) is off by the errors of exp2f, of its argument and of the product: under 8 + 4 log2 of
  // the speed, in units of the angle.
  const double f32_units = unit_roundoff(Dtype::f32) / unit_roundoff(c.dtype);
  out.magnitude.resize(out.values.size());
  for (int64_t row = 0; row < c.size("batch") * seq * heads; ++row)
    for (int64_t i = 0; i < pairs; ++i) {
      const double a = angle(first + row / heads % seq, i, dim, base);
      const double cosine = std::cos(a), sine = backward ? -std::sin(a) : std::sin(a);
      const auto x = size_t(row * dim + (interleaved ? 2 * i : i));
      const auto y = size_t(row * dim + (interleaved ? 2 * i + 1 : i + pairs));
      const double p = in.values[x], q = in.values[y];
      out.values[x] = p * cosine - q * sine;
      out.values[y] = q * cosine + p * sine;
      const double terms = (std::fabs(p) + std::fabs(q)) * f32_units *
                           (4 + a * (8 + 4 * std::fabs(log2_speed(i, dim, base))));
      out.magnitude[x] = std::fabs(out.values[x]) + terms;
      out.magnitude[y] = std::fabs(out.values[y]) + terms;
    }
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  turn(c, c.size("heads"), t[0], t[4]);
  turn(c, c.size("kv_heads"), t[1], t[5]);
}

}  // namespace ridge::rope
