#include "core/number.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ridge {
namespace {

constexpr uint64_t low_mask(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

// Floating formats. `magnitude` is a pattern without its sign: the numbers from zero to the largest
// are the patterns from 0 on, one by one, and the specials follow the largest.

constexpr uint64_t all_ones(const NumberFormat& f) {
  return low_mask(f.exponent_bits + f.mantissa_bits);
}
constexpr uint64_t largest_magnitude(const NumberFormat& f) {
  switch (f.specials) {
    case Specials::none: return all_ones(f);
    case Specials::nan: return all_ones(f) - 1;
    case Specials::ieee: return all_ones(f) - (1ull << f.mantissa_bits);
  }
  return 0;
}
// ue8m0 has no mantissa, so its lowest exponent cannot mean zero: it is one more power of two.
constexpr bool has_zero(const NumberFormat& f) { return f.mantissa_bits > 0; }

double decode_floating(const NumberFormat& f, uint64_t bits) {
  const uint64_t magnitude = bits & all_ones(f);
  const bool negative = f.is_signed && (bits >> (f.exponent_bits + f.mantissa_bits) & 1);
  const double sign = negative ? -1.0 : 1.0;
  if (magnitude > largest_magnitude(f)) {
    const bool infinite = f.specials == Specials::ieee && magnitude == largest_magnitude(f) + 1;
    return std::copysign(infinite ? std::numeric_limits<double>::infinity() : NAN, sign);
  }
  const int e = int(magnitude >> f.mantissa_bits);
  const uint64_t m = magnitude & low_mask(f.mantissa_bits);
  if (e == 0 && has_zero(f)) return sign * std::ldexp(double(m), 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(double(m + (1ull << f.mantissa_bits)), e - f.bias - f.mantissa_bits);
}

uint64_t encode_floating(const NumberFormat& f, double x, Conversion how) {
  const uint64_t most = largest_magnitude(f);
  if (std::isnan(x)) return f.specials == Specials::none ? most : all_ones(f);
  const bool saturates = f.specials == Specials::none || how.overflow == Overflow::saturate ||
                         (how.overflow == Overflow::by_format && f.is_quantised);
  const bool negative = f.is_signed && std::signbit(x);
  const uint64_t sign = negative ? 1ull << (f.exponent_bits + f.mantissa_bits) : 0;
  const double size = std::fabs(x);
  if (std::isinf(size)) return sign | (saturates ? most : most + 1);
  if (size == 0) return sign;
  // In units of the last place; subnormals share the lowest exponent. nearbyint rounds to even.
  const int exponent = std::max(std::ilogb(size), (has_zero(f) ? 1 : 0) - f.bias);
  const double units = std::ldexp(size, f.mantissa_bits - exponent);
  const bool cuts =
      how.rounding == Rounding::toward_zero || (how.rounding == Rounding::up && negative);
  const double whole = how.rounding == Rounding::nearest_even ? std::nearbyint(units)
                       : cuts                                 ? std::floor(units)
                                                              : std::ceil(units);
  // Adding, not or-ing: a mantissa that rounds up to the next power carries into the exponent.
  // Without zero, a number below the lowest power has less than one unit, and becomes that power.
  const int64_t carry = int64_t(exponent + f.bias - 1) << f.mantissa_bits;
  const auto magnitude = uint64_t(std::max<int64_t>(carry + int64_t(whole), 0));
  if (magnitude > most) return sign | (saturates || cuts ? most : most + 1);
  return sign | magnitude;
}

// Integers.

double lowest_integer(const NumberFormat& f) {
  return f.is_signed ? -std::ldexp(1, f.bits - 1) : 0;
}
double highest_integer(const NumberFormat& f) {  // for 64 bits the double next to it, 2^63
  return std::ldexp(1, f.is_signed ? f.bits - 1 : f.bits) - 1;
}

uint64_t encode_integer(const NumberFormat& f, double x) {
  if (std::isnan(x)) return 0;
  if (f.is_quantised) x = std::clamp(std::nearbyint(x), lowest_integer(f), highest_integer(f));
  const auto whole = x >= 0x1p63   ? std::numeric_limits<int64_t>::max()
                     : x < -0x1p63 ? std::numeric_limits<int64_t>::min()
                                   : int64_t(x);
  return uint64_t(whole) & low_mask(f.bits);
}

double decode_integer(const NumberFormat& f, uint64_t bits) {
  const int unused = 64 - f.bits;
  return f.is_signed ? double(int64_t(bits << unused) >> unused) : double(bits & low_mask(f.bits));
}

uint64_t encode_nf4(double x) {
  uint64_t code = 0;
  // The sum of two neighbours is exact in a double.
  while (code < 15 && 2 * x > double(kNf4Values[code]) + double(kNf4Values[code + 1])) ++code;
  return code;
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

// The one or two bytes that hold an element of a packed format, and where it starts in them.
struct Place {
  int64_t byte;
  int shift;
  bool is_split;
};
Place place_of(int bits, int64_t index) {
  const int64_t first = index * bits;
  const int shift = int(first % 8);
  return {first / 8, shift, shift + bits > 8};
}

struct Alias {
  std::string_view name;
  Dtype dtype;
};
constexpr Alias kAliases[] = {
    {"float", Dtype::f32},     {"float32", Dtype::f32},
    {"fp32", Dtype::f32},      {"half", Dtype::f16},
    {"float16", Dtype::f16},   {"fp16", Dtype::f16},
    {"bfloat16", Dtype::bf16}, {"double", Dtype::f64},
    {"float64", Dtype::f64},   {"fp64", Dtype::f64},
    {"int32", Dtype::i32},     {"int", Dtype::i32},
    {"int64", Dtype::i64},     {"long", Dtype::i64},
    {"uint32", Dtype::u32},    {"uint8", Dtype::u8},
    {"byte", Dtype::u8},       {"int8", Dtype::i8},
    {"int4", Dtype::i4},       {"uint4", Dtype::u4},
    {"fp8_e4m3", Dtype::e4m3}, {"e4m3fn", Dtype::e4m3},
    {"fp8", Dtype::e4m3},      {"float8_e4m3fn", Dtype::e4m3},
    {"fp8_e5m2", Dtype::e5m2}, {"float8_e5m2", Dtype::e5m2},
    {"fp4", Dtype::e2m1},      {"fp4_e2m1", Dtype::e2m1},
    {"fp6_e2m3", Dtype::e2m3}, {"fp6_e3m2", Dtype::e3m2},
    {"e8m0", Dtype::ue8m0},    {"float8_e8m0fnu", Dtype::ue8m0},
};

}  // namespace

uint64_t encode(Dtype dtype, double value, Conversion how) {
  const NumberFormat& f = format_of(dtype);
  switch (f.kind) {
    case NumberKind::floating: return encode_floating(f, value, how);
    case NumberKind::integer: return encode_integer(f, value);
    case NumberKind::table: return encode_nf4(value);
  }
  return 0;
}

double decode(Dtype dtype, uint64_t bits) {
  const NumberFormat& f = format_of(dtype);
  switch (f.kind) {
    case NumberKind::floating: return decode_floating(f, bits);
    case NumberKind::integer: return decode_integer(f, bits);
    case NumberKind::table: return double(kNf4Values[bits & 15]);
  }
  return 0;
}

uint64_t load_bits(Dtype dtype, const void* base, int64_t index) {
  const int bits = bits_of(dtype);
  switch (bits) {
    case 64: return read<uint64_t>(base, index);
    case 32: return read<uint32_t>(base, index);
    case 16: return read<uint16_t>(base, index);
    case 8: return read<uint8_t>(base, index);
    default: break;
  }
  const Place at = place_of(bits, index);
  unsigned word = read<uint8_t>(base, at.byte);
  if (at.is_split) word |= unsigned(read<uint8_t>(base, at.byte + 1)) << 8;
  return word >> at.shift & low_mask(bits);
}

void store_bits(Dtype dtype, void* base, int64_t index, uint64_t pattern) {
  const int bits = bits_of(dtype);
  switch (bits) {
    case 64: return write(base, index, pattern);
    case 32: return write(base, index, uint32_t(pattern));
    case 16: return write(base, index, uint16_t(pattern));
    case 8: return write(base, index, uint8_t(pattern));
    default: break;
  }
  const Place at = place_of(bits, index);
  const auto mask = unsigned(low_mask(bits)) << at.shift;
  const auto placed = unsigned(pattern & low_mask(bits)) << at.shift;
  for (int part = 0; part <= int(at.is_split); ++part) {
    const auto kept = unsigned(read<uint8_t>(base, at.byte + part)) & ~(mask >> 8 * part);
    write(base, at.byte + part, uint8_t(kept | placed >> 8 * part));
  }
}

double load(Dtype dtype, const void* base, int64_t index) {
  // The two that the compiler knows are most of what references read.
  if (dtype == Dtype::f32) return read<float>(base, index);
  if (dtype == Dtype::f64) return read<double>(base, index);
  return decode(dtype, load_bits(dtype, base, index));
}

void store(Dtype dtype, void* base, int64_t index, double value, Conversion how) {
  const bool plain = how.rounding == Rounding::nearest_even && how.overflow != Overflow::saturate;
  if (dtype == Dtype::f32 && plain) return write(base, index, float(value));
  if (dtype == Dtype::f64 && plain) return write(base, index, value);
  store_bits(dtype, base, index, encode(dtype, value, how));
}

double rounded(Dtype dtype, double value, Conversion how) {
  uint64_t bits = 0;
  store(dtype, &bits, 0, value, how);
  return load(dtype, &bits, 0);
}

double unit_roundoff(Dtype dtype) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind == NumberKind::floating) return std::ldexp(1, -f.mantissa_bits - 1);
  if (f.kind == NumberKind::integer) return 0;
  double widest = 0;
  for (int i = 0; i < 15; ++i)
    widest = std::max(widest, double(kNf4Values[i + 1]) - double(kNf4Values[i]));
  return widest / 2;
}

double largest(Dtype dtype) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind == NumberKind::floating) return decode_floating(f, largest_magnitude(f));
  return f.kind == NumberKind::integer ? highest_integer(f) : double(kNf4Values[15]);
}

double smallest(Dtype dtype) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind == NumberKind::floating) return decode_floating(f, has_zero(f) ? 1 : 0);
  return f.kind == NumberKind::integer ? 0 : double(kNf4Values[8]);
}

double smallest_normal(Dtype dtype) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind != NumberKind::floating) return 0;
  return decode_floating(f, has_zero(f) ? 1ull << f.mantissa_bits : 0);
}

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (const NumberFormat& f : kNumberFormats)
    if (name == f.name) return f.dtype;
  for (const Alias& alias : kAliases)
    if (name == alias.name) return alias.dtype;
  return std::nullopt;
}

}  // namespace ridge
