#include "harness/convert.h"

#include <bit>
#include <cstring>

#include "core/number.h"

namespace ridge::harness {
namespace {

// A format of 16 bits with so many mantissa bits, and double beside it.
template <int kMantissa>
struct Half {
  static constexpr Dtype kDtype = kMantissa == 10 ? Dtype::f16 : Dtype::bf16;
  static constexpr int kExponentBits = 15 - kMantissa;
  static constexpr int kDropped = 52 - kMantissa;
  // What is to be taken from a double's exponent to get this format's.
  static constexpr uint64_t kShift = 1023 - ((1 << (kExponentBits - 1)) - 1);
  static constexpr uint64_t kLeast = (kShift + 1) << 52;  // 2^least exponent, as a double's bits
  static constexpr uint64_t kInfinity = (kShift + (1 << kExponentBits) - 1) << 52;
  static constexpr uint64_t kSign = uint64_t(1) << 63;

  // To the nearest, a tie to the even one: half a unit less one bit is added, and that bit where
  // the last bit that stays is set. A carry into the exponent is right as it is.
  static uint64_t rounded_bits(uint64_t magnitude) {
    const uint64_t half = (uint64_t(1) << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1);
    return (magnitude + half) & ~((uint64_t(1) << kDropped) - 1);
  }
  static bool is_normal(uint64_t rounded) { return rounded >= kLeast && rounded < kInfinity; }

  static uint16_t encode(double x) {
    const auto bits = std::bit_cast<uint64_t>(x);
    const uint64_t magnitude = bits & ~kSign, rounded = rounded_bits(magnitude);
    const auto sign = uint16_t(bits >> 48 & 0x8000);
    if (magnitude == 0) return sign;
    if (!is_normal(rounded)) return uint16_t(ridge::encode(kDtype, x));
    return uint16_t(sign | (rounded - (kShift << 52)) >> kDropped);
  }
  static double decode(uint16_t bits) {
    const uint64_t magnitude = bits & 0x7fff;
    if (magnitude == 0) return bits ? -0.0 : 0.0;
    const uint64_t wide = (magnitude << kDropped) + (kShift << 52);
    if (!is_normal(wide)) return ridge::decode(kDtype, bits);
    return std::bit_cast<double>(wide | uint64_t(bits & 0x8000) << 48);
  }
  static double rounded(double x) {
    const auto bits = std::bit_cast<uint64_t>(x);
    const uint64_t magnitude = bits & ~kSign, rounded = rounded_bits(magnitude);
    if (magnitude == 0) return x;
    if (!is_normal(rounded)) return ridge::rounded(kDtype, x);
    return std::bit_cast<double>(rounded | (bits & kSign));
  }
};

template <int kMantissa>
void store_halves(uint16_t* to, std::span<const double> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = Half<kMantissa>::encode(values[i]);
    std::memcpy(to + i, &bits, sizeof bits);
  }
}

template <class T, class Decode>
void load_each(const void* base, int64_t first, int64_t step, std::span<double> values,
               Decode decode) {
  const char* at = static_cast<const char*>(base) + first * int64_t(sizeof(T));
  for (double& value : values) {
    T bits;
    std::memcpy(&bits, at, sizeof bits);
    value = decode(bits);
    at += step * int64_t(sizeof(T));
  }
}

}  // namespace

void store_all(Dtype dtype, void* base, int64_t first, std::span<const double> values) {
  switch (dtype) {
    case Dtype::f32: {
      char* const to = static_cast<char*>(base) + first * int64_t(sizeof(float));
      for (size_t i = 0; i < values.size(); ++i) {
        const auto x = float(values[i]);
        std::memcpy(to + i * sizeof x, &x, sizeof x);
      }
      return;
    }
    case Dtype::f16: return store_halves<10>(static_cast<uint16_t*>(base) + first, values);
    case Dtype::bf16: return store_halves<7>(static_cast<uint16_t*>(base) + first, values);
    default:
      for (size_t i = 0; i < values.size(); ++i) store(dtype, base, first + int64_t(i), values[i]);
  }
}

void load_all(Dtype dtype, const void* base, int64_t first, int64_t step,
              std::span<double> values) {
  switch (dtype) {
    case Dtype::f32:
      return load_each<float>(base, first, step, values, [](float x) { return double(x); });
    case Dtype::f16: return load_each<uint16_t>(base, first, step, values, Half<10>::decode);
    case Dtype::bf16: return load_each<uint16_t>(base, first, step, values, Half<7>::decode);
    default:
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = load(dtype, base, first + int64_t(i) * step);
  }
}

void round_all(Dtype dtype, std::span<double> values) {
  switch (dtype) {
    case Dtype::f32:
      for (double& x : values) x = double(float(x));
      return;
    case Dtype::f16:
      for (double& x : values) x = Half<10>::rounded(x);
      return;
    case Dtype::bf16:
      for (double& x : values) x = Half<7>::rounded(x);
      return;
    default:
      for (double& x : values) x = rounded(dtype, x);
  }
}

}  // namespace ridge::harness
