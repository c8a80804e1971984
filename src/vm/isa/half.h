// Half precision: f16 and bf16 as bits, and rounding of exact values to any narrow format.
//
// A NaN result is 0x7fff in both formats. Arithmetic happens in f32 or f64 and is rounded once; see
// half.cpp for why.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "vm/isa/float.h"
#include "vm/isa/float_vector.h"
#include "vm/isa/lane.h"

namespace ridge::vm {

inline constexpr uint16_t kNan16 = 0x7fff;

// A binary format below f32: sign, exponent, `mantissa` bits. Encodings grow with the magnitude, so
// that rounding up is an increment and overflow a comparison.
struct NarrowFormat {
  int mantissa;
  int least_exponent;  // of normal numbers
  uint32_t largest;    // finite, without sign
  uint32_t infinity;   // `largest` where the format has none
  uint32_t sign;
};
inline constexpr NarrowFormat kFormatF16 = {10, -14, 0x7bff, 0x7c00, 0x8000};
inline constexpr NarrowFormat kFormatBf16 = {7, -126, 0x7f7f, 0x7f80, 0x8000};
inline constexpr NarrowFormat kFormatE4m3 = {3, -6, 0x7e, 0x7e, 0x80};
inline constexpr NarrowFormat kFormatE5m2 = {2, -14, 0x7b, 0x7c, 0x80};
// An f32 without its low 13 bits.
inline constexpr NarrowFormat kFormatTf32 = {10, -126, 0x3fbff, 0x3fc00, 0x40000};

// significand * 2^scale, rounded. Nothing is lost before the one rounding.
inline uint32_t round_to(const NarrowFormat& f, bool negative, uint64_t significand, int scale,
                         Round round) {
  const uint32_t sign = negative ? f.sign : 0;
  if (significand == 0) return sign;
  const int zeros = std::countl_zero(significand);
  significand <<= zeros;
  const int exponent = scale - zeros + 63;
  const int below = exponent < f.least_exponent ? f.least_exponent - exponent : 0;
  const int drop = 63 - f.mantissa + below;  // bits that do not fit
  uint32_t kept = drop < 64 ? uint32_t(significand >> drop) : 0;
  const uint64_t lost = drop < 64 ? significand & ((1ull << drop) - 1) : significand;
  // 0: less than half of the last place, whatever is lost.
  const uint64_t half = drop <= 64 ? 1ull << (drop - 1) : 0;
  if (below == 0) kept += uint32_t(exponent - f.least_exponent) << f.mantissa;
  bool up = false;
  switch (round) {
    case Round::rn: up = half != 0 && (lost > half || (lost == half && (kept & 1))); break;
    case Round::rz: break;
    case Round::rm: up = lost != 0 && negative; break;
    case Round::rp: up = lost != 0 && !negative; break;
  }
  kept += up;
  if (exponent > 200 || kept > f.largest) {  // beyond the largest: directed rounding may stop there
    const bool away =
        round == Round::rn || (round == Round::rm && negative) || (round == Round::rp && !negative);
    kept = away ? f.infinity : f.largest;
  }
  return sign | kept;
}

// x finite or infinite.
inline uint32_t round_to(const NarrowFormat& f, double x, Round round) {
  const uint64_t bits = bits_of(x);
  const bool negative = bits >> 63;
  const int biased = int(bits >> 52) & 0x7ff;
  const uint64_t fraction = bits & ((1ull << 52) - 1);
  if (biased == 0x7ff) return (negative ? f.sign : 0) | f.infinity;
  return round_to(f, negative, biased ? fraction | 1ull << 52 : fraction,
                  (biased ? biased : 1) - 1075, round);
}

inline float half_to_float(uint16_t h) {
#ifdef __F16C__
  return _cvtsh_ss(h);
#else
  const uint32_t sign = uint32_t(h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) return float_of(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
  // 2^-14 and above by exponent, below it as a multiple of 2^-24: one product does both.
  return float_of(sign | bits_of(float_of(magnitude << 13) * 0x1p112f));
#endif
}
inline uint16_t float_to_half(float x, Round round = Round::rn) {
  if (x != x) return kNan16;
#ifdef __F16C__
  switch (round) {
    case Round::rn: return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
    case Round::rz: return _cvtss_sh(x, _MM_FROUND_TO_ZERO);
    case Round::rm: return _cvtss_sh(x, _MM_FROUND_TO_NEG_INF);
    case Round::rp: return _cvtss_sh(x, _MM_FROUND_TO_POS_INF);
  }
#endif
  return uint16_t(round_to(kFormatF16, double(x), round));
}

inline float brain_to_float(uint16_t b) { return float_of(uint32_t(b) << 16); }
inline uint16_t float_to_brain(float x, Round round = Round::rn) {
  const uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return kNan16;
  if (round == Round::rn) return uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  return uint16_t(round_to(kFormatBf16, double(x), round));
}

// Both 8-bit formats fit into f16: e5m2 is its upper byte, e4m3 has fewer exponents.
inline uint16_t half_from_e5m2(uint8_t x) { return (x & 0x7f) > 0x7c ? kNan16 : uint16_t(x << 8); }
inline uint16_t half_from_e4m3(uint8_t x) {
  const uint32_t magnitude = x & 0x7f, sign = (x & 0x80u) << 8;
  if (magnitude == 0x7f) return kNan16;
  return uint16_t(sign | float_to_half(float_of(magnitude << 20) * 0x1p120f));
}

// N values at once. Results round to nearest.
template <Type K, int N>
inline void widen(const uint16_t* from, float* to) {
  if constexpr (K == Type::bf16) {
    for (int i = 0; i < N; ++i) to[i] = brain_to_float(from[i]);
  } else {
#ifdef __F16C__
    for (int i = 0; i < N; i += 8)
      _mm256_storeu_ps(
          to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#else
    for (int i = 0; i < N; ++i) to[i] = half_to_float(from[i]);
#endif
  }
}
template <Type K, int N>
inline void narrow(const float* from, uint16_t* to) {
  if constexpr (K == Type::bf16) {
    for (int i = 0; i < N; ++i) to[i] = float_to_brain(from[i]);
  } else {
#ifdef __F16C__
    for (int i = 0; i < N; i += 8) {
      const __m256 x = _mm256_loadu_ps(from + i);
      __m128i h = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
      const __m128i magnitude = _mm_and_si128(h, _mm_set1_epi16(0x7fff));
      h = _mm_blendv_epi8(h, _mm_set1_epi16(kNan16),
                          _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7c00)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), h);
    }
#else
    for (int i = 0; i < N; ++i) to[i] = float_to_half(from[i]);
#endif
  }
}

// Writes a warp's results, one or two halves per lane, to the active lanes.
template <int N>
inline void store_halves(Warp& w, uint32_t operand, const uint16_t* results) {
  uint16_t* d = w.reg<uint16_t>(operand);
  if (w.mask == kAllLanes) {
    std::memcpy(d, results, N * sizeof(uint16_t));
    return;
  }
  for (int i = 0; i < N; i += 16) {
    const H16 bit = N == kWarpSize ? H16{0x1,   0x2,   0x4,   0x8,   0x10,   0x20,   0x40,   0x80,
                                         0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000}
                                   : H16{1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 128};
    const uint16_t mask = uint16_t(w.mask >> (i * kWarpSize / N));
    store(d + i, (mask & bit) != 0 ? load<H16>(results + i) : load<H16>(d + i));
  }
}

// make<K, N>() for the spelling's format, f16 or bf16, and number of halves.
template <class Make>
Handlers for_halves(const Form& form, Make make) {
  switch (form.type()) {
    case Type::f16: return make.template operator()<Type::f16, kWarpSize>();
    case Type::bf16: return make.template operator()<Type::bf16, kWarpSize>();
    case Type::f16x2: return make.template operator()<Type::f16, 2 * kWarpSize>();
    case Type::bf16x2: return make.template operator()<Type::bf16, 2 * kWarpSize>();
    default: return {};
  }
}

}  // namespace ridge::vm
