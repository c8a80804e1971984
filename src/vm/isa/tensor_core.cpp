#include "vm/isa/tensor_core.h"

#include <algorithm>
#include <utility>

namespace ridge::vm::tensor {
namespace {

typedef int16_t S16 __attribute__((vector_size(32)));
typedef int16_t S8 __attribute__((vector_size(16)));

template <class V>
inline V load(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
inline void store(void* p, const V& v) {
  std::memcpy(p, &v, sizeof v);
}

// --- one element, exactly: whatever the vectors below cannot do ---

struct Term {
  bool negative;
  uint64_t significand;  // times 2^scale
  int scale;
};
Term term_of(float x) {
  const uint32_t bits = bits_of(x);
  const int field = int(bits >> 23 & 255);
  return {bool(bits >> 31), (bits & 0x7fffff) | (field ? 0x800000u : 0u),
          (field ? field : 1) - 150};
}
// significand * 2^scale in units of 2^unit, cut off.
int64_t in_units(const Term& t, int unit) {
  const int right = unit - t.scale;
  const uint64_t size = right >= 64  ? 0
                        : right >= 0 ? t.significand >> right
                                     : t.significand << -right;
  return t.negative ? -int64_t(size) : int64_t(size);
}

// sum * 2^unit, cut off to f32, or to fewer bits where the rule is narrow; for f16 the last bit
// says that something was lost, so that a second rounding to fewer bits is as good as one.
float cut_off(int64_t sum, int unit, Rule rule) {
  if (sum == 0) return 0.0f;
  const bool negative = sum < 0;
  uint64_t size = negative ? uint64_t(-sum) : uint64_t(sum);
  const int top = 63 - std::countl_zero(size) + unit;  // exponent of the leading bit
  const int kept = rule.narrow && !rule.half ? kNarrowFraction : 23;
  const int drop = std::max(top, -126) - kept - unit;  // bits below the result's last
  bool lost = false;
  if (drop > 0) {
    lost = drop > 63 || (size & ((1ull << drop) - 1)) != 0;
    size = drop > 63 ? 0 : size >> drop;
  } else {
    size <<= -drop;
  }
  size <<= 23 - kept;
  uint32_t bits;
  if (top > 127) bits = 0x7f800000u;
  else if (top < -126) bits = uint32_t(size);
  else bits = uint32_t(top + 127) << 23 | (uint32_t(size) & 0x7fffff);
  if (rule.half && lost) bits |= 1;
  return float_of(bits == 0 ? 0 : bits | (negative ? 0x80000000u : 0u));
}

float element(const Rows& a, const Columns& b, int depth, int i, int lane, float c, Rule rule) {
  const int half = lane & 1;
  int highest = kLeastExponent;
  bool special = (bits_of(c) & 0x7f800000u) == 0x7f800000u;
  if (c != 0) highest = std::max<int>(highest, exponent_of(c, rule.half ? -14 : -126));
  for (int k = 0; k < depth; ++k) {
    const int e = a.exponent[i][k][half] + b.exponent[k][lane];
    if (e > kSpecialSum) special = true;
    else if (e > kZeroSum) highest = std::max(highest, e);
  }
  if (special) {  // infinities and NaNs: the order of additions does not matter
    double sum = c;
    for (int k = 0; k < depth; ++k)
      if (a.exponent[i][k][half] != kAbsent)
        sum += double(a.value[i][k][half]) * double(b.value[k][lane]);
    return sum != sum ? float_of(kNan32) : float(sum);
  }
  const int unit = highest - (rule.narrow ? kNarrowFraction : kFraction);
  int64_t sum = in_units(term_of(c), unit);
  for (int k = 0; k < depth; ++k) {
    if (a.exponent[i][k][half] + b.exponent[k][lane] <= kZeroSum) continue;
    const Term x = term_of(a.value[i][k][half]), y = term_of(b.value[k][lane]);
    sum += in_units({x.negative != y.negative, x.significand * y.significand, x.scale + y.scale},
                    unit);
  }
  return cut_off(sum, unit, rule);
}

void one_by_one(const Rows& a, const Columns& b, int depth, int i, Sums& c, Rule rule) {
  for (int lane = 0; lane < 16; ++lane)
    c.at[i][lane] = element(a, b, depth, i, lane, c.at[i][lane], rule);
}

// --- a row pair at a time ---

#if defined(__AVX2__)
namespace avx2 {
struct V {
  using F = __m256;
  using I = __m256i;
  static constexpr int kLanes = 8;
  static I all(int x) { return _mm256_set1_epi32(x); }
  static F load(const float* p) { return _mm256_load_ps(p); }
  static void store(float* p, F x) { _mm256_store_ps(p, x); }
  static F pairs(const float* p) {
    return _mm256_castpd_ps(_mm256_broadcast_sd(reinterpret_cast<const double*>(p)));
  }
  static I widen(const int16_t* p) {
    return _mm256_cvtepi16_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static F multiply(F x, F y) { return _mm256_mul_ps(x, y); }
  static F to_float(I x) { return _mm256_cvtepi32_ps(x); }
  static I to_int(F x) { return _mm256_cvttps_epi32(x); }
  static I bits(F x) { return _mm256_castps_si256(x); }
  static F from_bits(I x) { return _mm256_castsi256_ps(x); }
  static I add(I x, I y) { return _mm256_add_epi32(x, y); }
  static I subtract(I x, I y) { return _mm256_sub_epi32(x, y); }
  static I min(I x, I y) { return _mm256_min_epi32(x, y); }
  static I max(I x, I y) { return _mm256_max_epi32(x, y); }
  static I abs(I x) { return _mm256_abs_epi32(x); }
  static I bit_and(I x, I y) { return _mm256_and_si256(x, y); }
  static I bit_or(I x, I y) { return _mm256_or_si256(x, y); }
  static I bit_xor(I x, I y) { return _mm256_xor_si256(x, y); }
  template <int N>
  static I shift_left(I x) {
    return _mm256_slli_epi32(x, N);
  }
  template <int N>
  static I shift_right(I x) {
    return _mm256_srli_epi32(x, N);
  }
  static I if_equal(I x, I y, I yes, I no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(x, y));
  }
  static I if_greater(I x, I y, I yes, I no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpgt_epi32(x, y));
  }
  static I decrement_if_greater(I value, I x, I y) {
    return _mm256_add_epi32(value, _mm256_cmpgt_epi32(x, y));
  }
  static I set_last_if_unequal(I value, I x, I y) {
    return _mm256_or_si256(value, _mm256_andnot_si256(_mm256_cmpeq_epi32(x, y), all(1)));
  }
  static bool is_zero(I x) { return _mm256_testz_si256(x, x); }
};
#include "vm/isa/tensor_core_vectors.inc"
}  // namespace avx2

// GCC 12 takes its own _mm512_undefined for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
namespace avx512 {
struct V {
  using F = __m512;
  using I = __m512i;
  static constexpr int kLanes = 16;
  static I all(int x) { return _mm512_set1_epi32(x); }
  static F load(const float* p) { return _mm512_load_ps(p); }
  static void store(float* p, F x) { _mm512_store_ps(p, x); }
  static F pairs(const float* p) {
    return _mm512_castpd_ps(_mm512_set1_pd(*reinterpret_cast<const double*>(p)));
  }
  static I widen(const int16_t* p) {
    return _mm512_cvtepi16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static F multiply(F x, F y) { return _mm512_mul_ps(x, y); }
  static F to_float(I x) { return _mm512_cvtepi32_ps(x); }
  static I to_int(F x) { return _mm512_cvttps_epi32(x); }
  static I bits(F x) { return _mm512_castps_si512(x); }
  static F from_bits(I x) { return _mm512_castsi512_ps(x); }
  static I add(I x, I y) { return _mm512_add_epi32(x, y); }
  static I subtract(I x, I y) { return _mm512_sub_epi32(x, y); }
  static I min(I x, I y) { return _mm512_min_epi32(x, y); }
  static I max(I x, I y) { return _mm512_max_epi32(x, y); }
  static I abs(I x) { return _mm512_abs_epi32(x); }
  static I bit_and(I x, I y) { return _mm512_and_si512(x, y); }
  static I bit_or(I x, I y) { return _mm512_or_si512(x, y); }
  static I bit_xor(I x, I y) { return _mm512_xor_si512(x, y); }
  template <int N>
  static I shift_left(I x) {
    return _mm512_slli_epi32(x, N);
  }
  template <int N>
  static I shift_right(I x) {
    return _mm512_srli_epi32(x, N);
  }
  static I if_equal(I x, I y, I yes, I no) {
    return _mm512_mask_blend_epi32(_mm512_cmpeq_epi32_mask(x, y), no, yes);
  }
  static I if_greater(I x, I y, I yes, I no) {
    return _mm512_mask_blend_epi32(_mm512_cmpgt_epi32_mask(x, y), no, yes);
  }
  static I decrement_if_greater(I value, I x, I y) {
    return _mm512_mask_sub_epi32(value, _mm512_cmpgt_epi32_mask(x, y), value, all(1));
  }
  static I set_last_if_unequal(I value, I x, I y) {
    return _mm512_mask_or_epi32(value, _mm512_cmpneq_epi32_mask(x, y), value, all(1));
  }
  static bool is_zero(I x) { return _mm512_test_epi32_mask(x, x) == 0; }
};
#include "vm/isa/tensor_core_vectors.inc"
}  // namespace avx512
#pragma GCC pop_options
#pragma GCC diagnostic pop

using MultiplyAdd = void (*)(const Rows&, const Columns&, int, int, int, Sums&, Rule);
const MultiplyAdd kMultiplyAdd = has_avx512() ? avx512::multiply_add : avx2::multiply_add;
#else
void kMultiplyAdd(const Rows& a, const Columns& b, int depth, int first, int last, Sums& c,
                  Rule rule) {
  for (int i = first; i < last; ++i) one_by_one(a, b, depth, i, c, rule);
}
#endif

// Exponents of f16 or bf16 bits.
template <Type K, class V>
inline V exponents(V bits) {
  constexpr int16_t kMantissa = K == Type::f16 ? 10 : 7, kMask = K == Type::f16 ? 31 : 255,
                    kBias = K == Type::f16 ? 15 : 127;
  const V field = (bits >> kMantissa) & kMask;
  V e = (field > 1 ? field : V{} + int16_t(1)) - kBias;
  e = (bits & int16_t(0x7fff)) == 0 ? V{} + kZero : e;
  return field == kMask ? V{} + kSpecial : e;
}

template <Type K>
inline void put(S16 bits, float* value, int16_t* exponent) {
  store(exponent, exponents<K>(bits));
  uint16_t raw[16];
  store(raw, bits);
  widen<K, 16>(raw, value);
}

// x0 y0 x1 y1 …
inline S16 interleave(S8 x, S8 y) {
  return __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}

}  // namespace

int16_t exponent_of(float value, int least) {
  const uint32_t bits = bits_of(value);
  const int field = int(bits >> 23 & 255);
  if (field == 255) return kSpecial;
  if ((bits & 0x7fffffff) == 0) return kZero;
  return int16_t(std::max(std::max(field, 1) - 127, least));
}

Value value_of(Element e, uint32_t bits) {
  const auto at_least = [](float x, int least) { return Value{x, exponent_of(x, least)}; };
  switch (e) {
    case Element::f16: return at_least(half_to_float(uint16_t(bits)), -14);
    case Element::bf16: return at_least(brain_to_float(uint16_t(bits)), -126);
    case Element::e4m3: return at_least(half_to_float(half_from_e4m3(uint8_t(bits))), -6);
    case Element::e5m2: return at_least(half_to_float(half_from_e5m2(uint8_t(bits))), -14);
    default: return at_least(float_of(bits & 0xffffe000u), -126);  // tf32: not the low bits
  }
}

void multiply_add(const Rows& a, const Columns& b, int depth, Sums& c, Rule rule) {
  kMultiplyAdd(a, b, depth, 0, 8, c, rule);
}
void multiply_add_pair(const Rows& a, const Columns& b, int depth, int i, Sums& c, Rule rule) {
  kMultiplyAdd(a, b, depth, i, i + 1, c, rule);
}

template <Type K>
void load_rows(Rows& a, int k, const uint32_t* top, const uint32_t* bottom) {
  for (int i = 0; i < 8; ++i)
    put<K>(interleave(load<S8>(top + 4 * i), load<S8>(bottom + 4 * i)), a.value[i][k],
           a.exponent[i][k]);
}
template void load_rows<Type::f16>(Rows&, int, const uint32_t*, const uint32_t*);
template void load_rows<Type::bf16>(Rows&, int, const uint32_t*, const uint32_t*);

template <Type K>
void load_columns(Columns& b, int k, const uint32_t* tile) {
  // Three times: rows i and i + 4 dealt like the halves of a pack of cards.
  __m128i r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = load<__m128i>(tile + 4 * i);
  const auto deal = [](const __m128i* from, __m128i* to) {
    for (int i = 0; i < 4; ++i) {
      to[2 * i] = _mm_unpacklo_epi16(from[i], from[i + 4]);
      to[2 * i + 1] = _mm_unpackhi_epi16(from[i], from[i + 4]);
    }
  };
  deal(r, t);
  deal(t, r);
  deal(r, t);
  for (int i = 0; i < 8; ++i)
    put<K>(interleave(S8(t[i]), S8(t[i])), b.value[k + i], b.exponent[k + i]);
}
template void load_columns<Type::f16>(Columns&, int, const uint32_t*);
template void load_columns<Type::bf16>(Columns&, int, const uint32_t*);

// Four lanes of four registers are 2 rows of 8 columns: a transposition of 4 by 4.
void load_sums(Sums& c, const uint32_t* const* registers) {
  for (int i = 0; i < 8; ++i) {
    __m128 top_even = load<__m128>(registers[0] + 4 * i),
           top_odd = load<__m128>(registers[1] + 4 * i),
           low_even = load<__m128>(registers[2] + 4 * i),
           low_odd = load<__m128>(registers[3] + 4 * i);
    _MM_TRANSPOSE4_PS(top_even, low_even, top_odd, low_odd);
    const __m128 columns[4] = {top_even, low_even, top_odd, low_odd};
    store(c.at[i], columns);
  }
}
void store_sums(const Sums& d, uint32_t* const* registers) {
  for (int i = 0; i < 8; ++i) {
    __m128 a = load<__m128>(d.at[i]), b = load<__m128>(d.at[i] + 4), c = load<__m128>(d.at[i] + 8),
           e = load<__m128>(d.at[i] + 12);
    _MM_TRANSPOSE4_PS(a, b, c, e);
    store(registers[0] + 4 * i, a);
    store(registers[2] + 4 * i, b);
    store(registers[1] + 4 * i, c);
    store(registers[3] + 4 * i, e);
  }
}

void load_half_sums(Sums& c, const uint32_t* const* registers) {
  for (int i = 0; i < 8; ++i) {
    uint16_t raw[16];
    store(raw, interleave(load<S8>(registers[0] + 4 * i), load<S8>(registers[1] + 4 * i)));
    widen<Type::f16, 16>(raw, c.at[i]);
  }
}
void store_half_sums(const Sums& d, uint32_t* const* registers, bool negative_zero) {
  for (int i = 0; i < 8; ++i) {
    uint16_t raw[16];
    narrow<Type::f16, 16>(d.at[i], raw);
    S16 x = load<S16>(raw);
    if (!negative_zero) x = x == int16_t(0x8000) ? S16{} : x;
    store(registers[0] + 4 * i, __builtin_shufflevector(x, x, 0, 2, 4, 6, 8, 10, 12, 14));
    store(registers[1] + 4 * i, __builtin_shufflevector(x, x, 1, 3, 5, 7, 9, 11, 13, 15));
  }
}

}  // namespace ridge::vm::tensor
