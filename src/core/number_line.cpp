#include "core/number_line.h"

#include <cmath>

#include "core/number.h"

namespace ridge {
namespace {

constexpr uint64_t low_mask(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

// Places on the line, one apart from number to number; both zeros are at 0.
int64_t place_of(const NumberFormat& f, uint64_t bits) {
  if (f.kind == NumberKind::floating) {
    const int width = f.exponent_bits + f.mantissa_bits;
    const auto magnitude = int64_t(bits & low_mask(width));
    return f.is_signed && (bits >> width & 1) ? -magnitude : magnitude;
  }
  const int unused = 64 - f.bits;
  if (f.kind == NumberKind::integer && f.is_signed) return int64_t(bits << unused) >> unused;
  return int64_t(bits & low_mask(f.bits));
}

uint64_t pattern_at(const NumberFormat& f, int64_t place) {
  if (f.kind != NumberKind::floating) return uint64_t(place) & low_mask(f.bits);
  if (place >= 0) return uint64_t(place);
  return uint64_t(-place) | 1ull << (f.exponent_bits + f.mantissa_bits);
}

std::optional<uint64_t> neighbour(Dtype dtype, uint64_t bits, int step) {
  const NumberFormat& f = format_of(dtype);
  const double value = decode(dtype, bits);
  if (std::isnan(value) || (std::isinf(value) && (value > 0) == (step > 0))) return std::nullopt;
  const int64_t from = place_of(f, bits);
  // Patterns end here where the format ends; in floating formats with specials NaN comes before.
  const bool has_negative = f.is_signed && f.kind != NumberKind::table;
  const int width = f.kind == NumberKind::floating ? f.exponent_bits + f.mantissa_bits
                                                   : f.bits - (has_negative ? 1 : 0);
  const auto highest = int64_t(low_mask(width));
  const int64_t lowest = !has_negative                    ? 0
                         : f.kind == NumberKind::floating ? -highest
                                                          : -highest - 1;
  if (from == (step > 0 ? highest : lowest)) return std::nullopt;
  const uint64_t found = pattern_at(f, from + step);
  if (std::isnan(decode(dtype, found))) return std::nullopt;
  return found;
}

}  // namespace

const char* to_string(NumberClass c) {
  switch (c) {
    case NumberClass::zero: return "zero";
    case NumberClass::subnormal: return "subnormal";
    case NumberClass::normal: return "normal";
    case NumberClass::infinite: return "infinity";
    case NumberClass::nan: return "NaN";
  }
  return "?";
}

NumberClass class_of(Dtype dtype, uint64_t bits) {
  const double value = decode(dtype, bits);
  if (std::isnan(value)) return NumberClass::nan;
  if (std::isinf(value)) return NumberClass::infinite;
  if (value == 0) return NumberClass::zero;
  return std::fabs(value) < smallest_normal(dtype) ? NumberClass::subnormal : NumberClass::normal;
}

Fields fields_of(Dtype dtype, uint64_t bits) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind != NumberKind::floating) return {0, 0, bits & low_mask(f.bits), 0, 0, f.bits};
  const int width = f.exponent_bits + f.mantissa_bits;
  return {f.is_signed ? bits >> width & 1 : 0,
          bits >> f.mantissa_bits & low_mask(f.exponent_bits),
          bits & low_mask(f.mantissa_bits),
          f.is_signed ? 1 : 0,
          f.exponent_bits,
          f.mantissa_bits};
}

std::optional<uint64_t> next_above(Dtype dtype, uint64_t bits) { return neighbour(dtype, bits, 1); }
std::optional<uint64_t> next_below(Dtype dtype, uint64_t bits) {
  return neighbour(dtype, bits, -1);
}

}  // namespace ridge
