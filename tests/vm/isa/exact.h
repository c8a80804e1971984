// Exact numbers and their correct rounding, computed with integers: the truth that floating-point
// handlers are held against. A number is significand * 2^exponent; `sticky` says that a little more
// magnitude follows.
#pragma once

#include <bit>
#include <cstdint>

namespace ridge::vm::test {

using Wide128 = unsigned __int128;
enum class Mode { rn, rz, rm, rp };

struct Layout {
  int mantissa, bias, bits;
  uint64_t infinity() const { return ((uint64_t(1) << (bits - 1 - mantissa)) - 1) << mantissa; }
  uint64_t sign() const { return uint64_t(1) << (bits - 1); }
  uint64_t magnitude(uint64_t x) const { return x & (sign() - 1); }
  bool is_nan(uint64_t x) const { return magnitude(x) > infinity(); }
  bool is_infinite(uint64_t x) const { return magnitude(x) == infinity(); }
  bool is_zero(uint64_t x) const { return magnitude(x) == 0; }
  bool is_subnormal(uint64_t x) const { return magnitude(x) != 0 && magnitude(x) >> mantissa == 0; }
  bool negative(uint64_t x) const { return x & sign(); }
};
inline constexpr Layout kF16 = {10, 15, 16}, kBf16 = {7, 127, 16}, kF32 = {23, 127, 32},
                        kF64 = {52, 1023, 64};

struct Exact {
  bool negative = false;
  Wide128 significand = 0;
  int exponent = 0;
  bool sticky = false;
};

inline int width(Wide128 x) {
  return uint64_t(x >> 64) ? 128 - std::countl_zero(uint64_t(x >> 64))
                           : 64 - std::countl_zero(uint64_t(x));
}

inline Exact exact(const Layout& f, uint64_t x) {  // of a finite number
  const uint64_t field = f.magnitude(x) >> f.mantissa,
                 fraction = x & ((uint64_t(1) << f.mantissa) - 1);
  return {f.negative(x), field ? fraction | uint64_t(1) << f.mantissa : fraction,
          int(field ? field : 1) - f.bias - f.mantissa, false};
}

// a and b have at most 64 significant bits, or 106 where the other has 53: what a product and an
// addend have.
inline Exact sum(Exact a, Exact b) {
  if (a.significand == 0 || b.significand == 0) {
    Exact r = a.significand ? a : b;
    if (!a.significand && !b.significand) r.negative = a.negative && b.negative;
    return r;
  }
  // Move the larger one to the top, with two bits to spare, and the smaller one to its exponent.
  if (width(a.significand) + a.exponent < width(b.significand) + b.exponent) std::swap(a, b);
  const int up = 126 - width(a.significand);
  a.significand <<= up;
  a.exponent -= up;
  const int shift = b.exponent - a.exponent;
  bool lost = false;
  if (shift >= 0) {
    b.significand <<= shift;
  } else if (-shift < 128) {
    lost = b.significand << (128 + shift) != 0;
    b.significand >>= -shift;
  } else {
    lost = true;
    b.significand = 0;
  }
  if (a.negative == b.negative) {
    a.significand += b.significand;
    a.sticky = lost;
  } else if (a.significand >= b.significand) {
    // What was lost counts down: one less, and a little more.
    a.significand -= b.significand + (lost ? 1 : 0);
    a.sticky = lost;
  } else {
    a.significand = b.significand - a.significand;
    a.negative = b.negative;
    a.sticky = lost;
  }
  return a;
}
inline Exact product(const Exact& a, const Exact& b) {
  return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent, false};
}
inline Exact quotient(const Exact& a, const Exact& b) {
  const int up = 127 - width(a.significand);  // at least 74 bits of quotient
  const Wide128 n = a.significand << up;
  return {a.negative != b.negative, n / b.significand, a.exponent - up - b.exponent,
          n % b.significand != 0};
}
inline Exact square_root(Exact a) {
  int up = 126 - width(a.significand);
  if ((a.exponent - up) % 2 != 0) --up;
  a.significand <<= up;
  a.exponent -= up;
  Wide128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide128 trial = root | Wide128(1) << bit;
    if (trial * trial <= a.significand) root = trial;
  }
  return {false, root, a.exponent / 2, root * root != a.significand};
}

// Rounds to f. `unbounded` ignores that subnormal numbers have fewer bits: what decides whether a
// result is tiny.
inline uint64_t rounded(const Layout& f, const Exact& x, Mode mode, bool unbounded = false,
                        bool* tiny = nullptr) {
  const uint64_t sign = x.negative ? f.sign() : 0;
  if (x.significand == 0) {
    if (tiny) *tiny = x.sticky;
    const bool up =
        x.sticky && ((mode == Mode::rp && !x.negative) || (mode == Mode::rm && x.negative));
    return sign | (up ? 1 : 0);
  }
  const int least = 1 - f.bias - f.mantissa;  // exponent of the last place of subnormal numbers
  int last = x.exponent + width(x.significand) - 1 - f.mantissa;
  if (!unbounded && last < least) last = least;
  const int drop = last - x.exponent;
  Wide128 kept = drop <= 0 ? x.significand << -drop : drop < 128 ? x.significand >> drop : 0;
  const Wide128 rest = drop <= 0 ? 0 : drop < 128 ? x.significand - (kept << drop) : x.significand;
  const bool above_half =
      drop > 0 && drop <= 128 &&
      (rest > Wide128(1) << (drop - 1) || (rest == Wide128(1) << (drop - 1) && x.sticky));
  const bool tie = drop > 0 && drop <= 128 && rest == Wide128(1) << (drop - 1) && !x.sticky;
  const bool inexact = rest != 0 || x.sticky;
  const bool away = mode == Mode::rn   ? above_half || (tie && (kept & 1))
                    : mode == Mode::rz ? false
                                       : inexact && x.negative == (mode == Mode::rm);
  kept += away;
  if (tiny) *tiny = width(kept) + last < 1 - f.bias + 1;
  if (unbounded) return 0;
  const uint64_t field = uint64_t(last - least);
  // The leading one adds 1 to the exponent field.
  uint64_t bits = (field << f.mantissa) + uint64_t(kept);
  if (last - least > 2 * f.bias || bits >= f.infinity()) {
    const bool stops =
        mode == Mode::rz || (mode == Mode::rm && !x.negative) || (mode == Mode::rp && x.negative);
    bits = stops ? f.infinity() - 1 : f.infinity();
  }
  return sign | bits;
}

// Rounds like a .ftz instruction: a result that is below the normal numbers after rounding is a
// zero.
inline uint64_t rounded_ftz(const Layout& f, const Exact& x, Mode mode) {
  bool tiny = false;
  rounded(f, x, mode, true, &tiny);
  return tiny ? (x.negative ? f.sign() : 0) : rounded(f, x, mode);
}

}  // namespace ridge::vm::test
