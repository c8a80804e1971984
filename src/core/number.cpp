#include "core/number.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace ridge {
namespace {

// A binary format of 16 bits: 1 sign, `exponent` exponent and `mantissa` mantissa bits.
struct Format16 {
  int exponent, mantissa;
  int bias() const { return (1 << (exponent - 1)) - 1; }
};
constexpr Format16 kF16 = {5, 10}, kBf16 = {8, 7};

double widen(Format16 f, uint16_t bits) {
  const int e = (bits >> f.mantissa) & ((1 << f.exponent) - 1);
  const int m = bits & ((1 << f.mantissa) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (e == (1 << f.exponent) - 1)
    return m ? std::copysign(NAN, sign) : sign * std::numeric_limits<double>::infinity();
  if (e == 0) return sign * std::ldexp(m, 1 - f.bias() - f.mantissa);
  return sign * std::ldexp(m + (1 << f.mantissa), e - f.bias() - f.mantissa);
}

uint16_t narrow(Format16 f, double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const uint16_t infinity = uint16_t(((1 << f.exponent) - 1) << f.mantissa);
  if (std::isnan(x)) return uint16_t(0x7fff);
  const double size = std::fabs(x);
  if (std::isinf(size)) return sign | infinity;
  if (size == 0) return sign;
  // In units of the last place; subnormals share the lowest exponent. nearbyint rounds to even.
  const int exponent = std::max(std::ilogb(size), 1 - f.bias());
  const double units = std::nearbyint(std::ldexp(size, f.mantissa - exponent));
  // Adding, not or-ing: a mantissa that rounds up to the next power carries into the exponent.
  const int bits = ((exponent + f.bias() - 1) << f.mantissa) + int(units);
  return sign | uint16_t(std::min<int>(bits, infinity));
}

template <class T>
T read(const void* base, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void write(void* base, int64_t index, T value) {
  std::memcpy(static_cast<char*>(base) + index * int64_t(sizeof(T)), &value, sizeof(T));
}

}  // namespace

double load(Dtype dtype, const void* base, int64_t index) {
  switch (dtype) {
    case Dtype::f32: return read<float>(base, index);
    case Dtype::f16: return widen(kF16, read<uint16_t>(base, index));
    case Dtype::bf16: return widen(kBf16, read<uint16_t>(base, index));
    case Dtype::f64: return read<double>(base, index);
    case Dtype::i32: return read<int32_t>(base, index);
    case Dtype::i64: return double(read<int64_t>(base, index));
    case Dtype::u32: return read<uint32_t>(base, index);
    case Dtype::u8: return read<uint8_t>(base, index);
  }
  return 0;
}

void store(Dtype dtype, void* base, int64_t index, double value) {
  switch (dtype) {
    case Dtype::f32: return write(base, index, float(value));
    case Dtype::f16: return write(base, index, narrow(kF16, value));
    case Dtype::bf16: return write(base, index, narrow(kBf16, value));
    case Dtype::f64: return write(base, index, value);
    case Dtype::i32: return write(base, index, int32_t(value));
    case Dtype::i64: return write(base, index, int64_t(value));
    case Dtype::u32: return write(base, index, uint32_t(int64_t(value)));
    case Dtype::u8: return write(base, index, uint8_t(int64_t(value)));
  }
}

double rounded(Dtype dtype, double value) {
  uint64_t bits = 0;
  store(dtype, &bits, 0, value);
  return load(dtype, &bits, 0);
}

double unit_roundoff(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return 0x1p-24;
    case Dtype::f16: return 0x1p-11;
    case Dtype::bf16: return 0x1p-8;
    case Dtype::f64: return 0x1p-53;
    default: return 0;
  }
}

double smallest(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return 0x1p-149;
    case Dtype::f16: return 0x1p-24;
    case Dtype::bf16: return 0x1p-133;
    case Dtype::f64: return 0x1p-1074;
    default: return 0;
  }
}

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (const Dtype d : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::i32, Dtype::i64,
                        Dtype::u32, Dtype::u8})
    if (name == name_of(d)) return d;
  return std::nullopt;
}

}  // namespace ridge
