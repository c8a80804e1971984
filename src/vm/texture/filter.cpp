#include "vm/texture/filter.h"

#include <bit>
#include <climits>
#include <limits>

namespace ridge::vm::texture {
namespace {

struct Real {
  int texel_bits, sum_bits, least;  // `least`: the exponent of the smallest number
};
constexpr Real kReal32 = {28, 24, -149}, kReal16 = {15, 11, -24};

// A sum of so many times 2^exponent, to what the type holds, halves away from zero.
int64_t rounded(int64_t sum, int exponent, const Real& type) {
  const auto magnitude = uint64_t(sum < 0 ? -sum : sum);
  const int spare = std::max(int(std::bit_width(magnitude)) - type.sum_bits, type.least - exponent);
  if (spare <= 0) return sum;
  if (spare > 62) return 0;
  const auto kept = int64_t((magnitude + (1ull << (spare - 1))) >> spare << spare);
  return sum < 0 ? -kept : kept;
}

// What no number comes of: infinities, NaN, and zeros alone.
float special_sum(const Real& type, std::span<const double> texels, std::span<const int> weights) {
  double sum = -0.0;
  for (size_t k = 0; k < texels.size(); ++k)
    if (weights[k]) sum += texels[k];
  if (sum == sum) return float(sum);
  return std::bit_cast<float>(type.sum_bits == kReal16.sum_bits ? 0x7fffe000u : 0x7fffffffu);
}

float real_sum(const Real& type, std::span<const double> texels, std::span<const int> weights) {
  int exponent = INT_MIN;
  for (size_t k = 0; k < texels.size(); ++k) {
    if (!weights[k] || texels[k] == 0) continue;
    if (!std::isfinite(texels[k])) return special_sum(type, texels, weights);
    exponent = std::max(exponent, std::ilogb(texels[k]) + 1);
  }
  if (exponent == INT_MIN) return special_sum(type, texels, weights);
  const int unit = exponent - type.texel_bits;
  int64_t sum = 0;
  for (size_t k = 0; k < texels.size(); ++k)
    if (weights[k]) sum += int64_t(std::ldexp(texels[k], -unit)) * weights[k];
  const int scale = unit - kFractionBits;
  return float(std::ldexp(double(rounded(sum, scale, type)), scale));
}

// Fractions of `most`.
float fraction_sum(int most, std::span<const double> texels, std::span<const int> weights) {
  double sum = 0;
  for (size_t k = 0; k < texels.size(); ++k) sum += texels[k] * most * weights[k];
  return float(std::floor(sum / double(kOne) + 0.5) / most);
}

}  // namespace

// The whole is divided along z, each part along x and each of those along y, every time into two
// that make up the part. Halves go to the right and to the lower one, but on the left to the upper.
Weights weights_of(const Tap taps[3], int dimensions, int whole) {
  const auto one = int(kOne);
  const int u = int(taps[0].weight), v = dimensions > 1 ? int(taps[1].weight) : 0;
  const int w = dimensions > 2 ? int(taps[2].weight) : 0;
  Weights out = {};
  for (int z = 0; z < 2; ++z) {
    const int back = (whole * w + one / 2) / one;
    const int slice = z ? back : whole - back;
    const int right = (slice * u + one / 2) / one;
    for (int x = 0; x < 2; ++x) {
      const int column = x ? right : slice - right;
      const int lower = (column * v + one / 2 - !x) / one;
      out[size_t(x + 4 * z)] = column - lower;
      out[size_t(x + 2 + 4 * z)] = lower;
    }
  }
  return out;
}

Arithmetic arithmetic_of(const Format& format, const Reading& reading, int channel) {
  if (format.kind == Channel::real)
    return format.bits == 16 ? Arithmetic::real16 : Arithmetic::real32;
  if (format.kind == Channel::sint || format.kind == Channel::snorm) return Arithmetic::snorm;
  return reading.srgb && format.bits == 8 && channel < 3 ? Arithmetic::real16 : Arithmetic::unorm;
}

float weighted_sum(Arithmetic how, std::span<const double> texels, std::span<const int> weights) {
  switch (how) {
    case Arithmetic::real32: return real_sum(kReal32, texels, weights);
    case Arithmetic::real16: return real_sum(kReal16, texels, weights);
    case Arithmetic::unorm: return fraction_sum(65535, texels, weights);
    case Arithmetic::snorm: break;
  }
  return std::max(-1.0f, fraction_sum(32767, texels, weights));
}

}  // namespace ridge::vm::texture
