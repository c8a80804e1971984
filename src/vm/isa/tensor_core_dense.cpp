#include "vm/isa/tensor_core_dense.h"

#include <utility>

#include "vm/isa/half.h"
#include "vm/isa/tensor_core.h"

namespace ridge::vm::tensor {
#if defined(__AVX2__)
namespace {

// --- exponents ---
// A factor's exponent is kept as its distance below the largest there can be (f16) or is in its
// fragment (bf16), in a byte; kNothing, which any sum saturates to, is zero. So the least sum of
// two distances is the largest exponent of the products of one element of D.
constexpr uint8_t kNothing = 255;
// bf16: distances from here on are not told apart, and a sum that is no less is not trusted.
constexpr int kFar = 60;
constexpr int kMantissa = 23, kBias = 127;
// Exponents are f32's biased ones. From here on the unit of the sum, and its inverse, are normal.
constexpr int kLeast = kFraction + 2;

struct alignas(64) DenseRows {
  float value[4][4][16];    // [row / 4][k / 4][row % 4 * 4 + k % 4]
  uint8_t distance[4][64];  // [row / 8 * Steps + k / 8][row % 4][row / 4 % 2][k % 8]
  int top;                  // exponent at distance 0
};
// C and D: [row / 8][row / 4 % 2][odd columns][row % 4 * 4 + column / 2]
struct alignas(64) DenseSums {
  float at[2][2][2][16];
};

template <class T, size_t N>
struct Table {
  T at[N];
};
template <class T, size_t N, class F>
constexpr Table<T, N> table(F value) {
  Table<T, N> t{};
  for (size_t i = 0; i < N; ++i) t.at[i] = T(value(i));
  return t;
}
// Eight columns of eight k each to four k of eight columns each, the even ones first.
template <int First>
alignas(64) constexpr auto kTransposed = table<int16_t, 32>([](size_t i) {
  const size_t place = i % 8, column = place < 4 ? 2 * place : 2 * place - 7;
  return 8 * column + First + i / 8;
});
// Low halves of four rows, then high halves.
alignas(64) constexpr auto kHalvesApart = table<int64_t, 8>([](size_t i) {
  return i < 4 ? 2 * i : 2 * i - 7;
});
// Byte K of both eights of a lane, eight times each.
template <int K>
alignas(64) constexpr auto kRepeated = table<uint8_t, 64>([](size_t i) {
  return i % 16 / 8 * 8 + K;
});
// Four bytes of a lane to the tops of its words.
template <int Four>
alignas(64) constexpr auto kToTops = table<uint8_t, 64>([](size_t i) {
  return i % 4 == 3 ? 4 * Four + i % 16 / 4 : 0x80;
});

// GCC 12 takes its own _mm512_undefined for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")

inline __m512i read(const void* p) { return _mm512_loadu_si512(p); }
inline void write(void* p, __m512i x) { _mm512_storeu_si512(p, x); }
inline __m512i all(int x) { return _mm512_set1_epi32(x); }
inline __m512i all_words(int x) { return _mm512_set1_epi16(int16_t(x)); }
inline __m512i all_bytes(int x) { return _mm512_set1_epi8(char(x)); }

template <Type K>
inline __m512 to_floats(__m256i halves) {
  if constexpr (K == Type::f16) return _mm512_cvtph_ps(halves);
  else return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
template <Type K>
inline void widen(__m512i halves, float* low, float* high) {
  _mm512_store_ps(low, to_floats<K>(_mm512_castsi512_si256(halves)));
  _mm512_store_ps(high, to_floats<K>(_mm512_extracti64x4_epi64(halves, 1)));
}

inline int largest_word(__m512i x) {
  const __m256i y = _mm256_max_epu16(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  const __m128i z = _mm_max_epu16(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
  return 0xffff ^ _mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(z, _mm_set1_epi16(-1))), 0);
}

// Pairs of vectors of halves to vectors of distances: eights of the first and of the second by
// turns. The exponent at distance 0, or -1 where an infinity or a NaN is among them.
template <Type K, int Pairs>
inline int find_distances(const __m512i (*halves)[2], uint8_t (*to)[64]) {
  constexpr int kShift = K == Type::f16 ? 10 : 7, kSpecialField = K == Type::f16 ? 31 : 255;
  __m512i sizes[Pairs][2], most = all(0);
  for (int i = 0; i < Pairs; ++i)
    for (int j = 0; j < 2; ++j) {
      sizes[i][j] = _mm512_and_si512(halves[i][j], all_words(0x7fff));
      most = _mm512_max_epi16(most, sizes[i][j]);
    }
  int top_field = kSpecialField - 1;
  bool special;
  if constexpr (K == Type::f16) {
    special = _mm512_cmpge_epi16_mask(most, all_words(kSpecialField << kShift)) != 0;
  } else {
    top_field = largest_word(most) >> kShift;
    special = top_field == kSpecialField;
    if (top_field == 0) top_field = 1;
  }
  const __m512i top = all_words(top_field);
  for (int i = 0; i < Pairs; ++i) {
    __m512i distance[2];
    for (int j = 0; j < 2; ++j) {
      const __m512i size = sizes[i][j];
      const __m512i field = _mm512_max_epi16(_mm512_srli_epi16(size, kShift), all_words(1));
      distance[j] = _mm512_mask_sub_epi16(all_words(kNothing), _mm512_test_epi16_mask(size, size),
                                          top, field);
      if constexpr (K == Type::bf16)
        distance[j] = _mm512_mask_min_epi16(distance[j], _mm512_test_epi16_mask(size, size),
                                            distance[j], all_words(kFar));
    }
    write(to[i], _mm512_packus_epi16(distance[0], distance[1]));
  }
  return special ? -1 : K == Type::f16 ? top_field - 15 + kBias : top_field;
}

// Registers of rows 0-7 and 8-15 by turns. False where values are not ordinary.
template <Type K, int Steps>
inline bool load(DenseRows& a, const uint32_t* const* registers) {
  __m512i halves[2 * Steps][2];
  for (int h = 0; h < 2; ++h)
    for (int s = 0; s < Steps; ++s)
      for (int q = 0; q < 2; ++q) {
        const __m512i x = read(registers[2 * s + h] + 16 * q);
        halves[Steps * h + s][q] = x;
        const __m512i apart = _mm512_permutexvar_epi64(read(kHalvesApart.at), x);
        widen<K>(apart, a.value[2 * h + q][2 * s], a.value[2 * h + q][2 * s + 1]);
      }
  a.top = find_distances<K, 2 * Steps>(halves, a.distance);
  return a.top >= 0;
}
template <Type K, int Steps>
inline bool load(DenseColumns& b, const uint32_t* const* registers) {
  __m512i halves[Steps][2];
  for (int s = 0; s < Steps; ++s) {
    const __m512i x = read(registers[s]), y = read(registers[s] + 16);
    halves[s][0] = _mm512_permutex2var_epi16(x, read(kTransposed<0>.at), y);
    halves[s][1] = _mm512_permutex2var_epi16(x, read(kTransposed<4>.at), y);
    for (int i = 0; i < 2; ++i)
      widen<K>(halves[s][i], b.value[8 * s + 4 * i], b.value[8 * s + 4 * i + 2]);
  }
  b.top = find_distances<K, Steps>(halves, b.distance);
  return b.top >= 0;
}

// D in vectors, as DenseSums has them.
struct Results {
  __m512 at[2][2][2];
};
inline void store(const Results& d, uint32_t* const* registers) {
  for (int h = 0; h < 2; ++h)
    for (int q = 0; q < 2; ++q)
      for (int p = 0; p < 2; ++p) _mm512_storeu_ps(registers[2 * h + p] + 16 * q, d.at[h][q][p]);
}
// f16 ones lie in pairs, an even column's and an odd one's.
inline void load_halves(DenseSums& c, const uint32_t* const* registers) {
  for (int h = 0; h < 2; ++h)
    for (int q = 0; q < 2; ++q) {
      const __m512i even = read(registers[h] + 16 * q), odd = _mm512_srli_epi32(even, 16);
      _mm512_store_ps(c.at[h][q][0], _mm512_cvtph_ps(_mm512_cvtepi32_epi16(even)));
      _mm512_store_ps(c.at[h][q][1], _mm512_cvtph_ps(_mm512_cvtepi32_epi16(odd)));
    }
}
inline void store_halves(const Results& d, uint32_t* const* registers, bool negative_zero) {
  constexpr __mmask16 kAll = 0xffff;
  const __m256i kMinusZero = _mm256_set1_epi16(INT16_MIN);
  for (int h = 0; h < 2; ++h)
    for (int q = 0; q < 2; ++q) {
      const auto narrowed = [&](int p) {
        const __m256i x = _mm512_cvtps_ph(d.at[h][q][p], _MM_FROUND_TO_NEAREST_INT);
        return _mm512_cvtepu16_epi32(_mm256_maskz_mov_epi16(
            negative_zero ? kAll : _mm256_cmpneq_epi16_mask(x, kMinusZero), x));
      };
      write(registers[h] + 16 * q,
            _mm512_or_si512(narrowed(0), _mm512_slli_epi32(narrowed(1), 16)));
    }
}

// What a step along K takes of A: element k of four rows, four times each; and distances of eight
// rows, eight times each.
template <int I>
inline __m512 row(const DenseRows& a, int four, int k) {
  return _mm512_permute_ps(_mm512_load_ps(a.value[four][k / 4]), 0x55 * I);
}
template <int I>
inline __m512 row(const WideRows& a, int four, int k) {
  return _mm512_load_ps(a.value[four][k + I]);
}
template <int Steps, int K>
inline __m512i distances(const DenseRows& a, int h, int s) {
  return _mm512_shuffle_epi8(read(a.distance[h * Steps + s]), read(kRepeated<K>.at));
}
template <int Steps, int K>
inline __m512i distances(const WideRows& a, int h, int s) {
  return read(a.distance[h][8 * s + K]);
}
inline void widen_rows(const DenseRows& from, WideRows& to) {
  const auto step = [&]<int... i>(std::integer_sequence<int, i...>) {
    for (int four = 0; four < 4; ++four)
      (_mm512_store_ps(to.value[four][i], row<i % 4>(from, four, i - i % 4)), ...);
    for (int h = 0; h < 2; ++h)
      (write(to.distance[h][i], distances<2, i % 8>(from, h, i / 8)), ...);
  };
  step(std::make_integer_sequence<int, 16>());
  to.top = from.top;
}

// Largest exponents of the products, where kToTops expects them; 0 where all are zero.
template <Type K, int Steps, class A>
inline __m512i exponents(const A& a, const DenseColumns& b, int h, __mmask64& bad) {
  __m512i least = all_bytes(kNothing);
  for (int s = 0; s < Steps; ++s) {
    const auto step = [&]<int... k>(std::integer_sequence<int, k...>) {
      ((least =
            _mm512_min_epu8(least, _mm512_adds_epu8(distances<Steps, k>(a, h, s),
                                                    _mm512_set1_epi64(vm::load<int64_t>(
                                                        b.distance[s] + k % 4 * 16 + k / 4 * 8))))),
       ...);
    };
    step(std::make_integer_sequence<int, 8>());
  }
  if constexpr (K == Type::bf16)
    bad |= _mm512_cmpge_epu8_mask(least, all_bytes(kFar)) &
           _mm512_cmpneq_epi8_mask(least, all_bytes(kNothing));
  return _mm512_subs_epu8(all_bytes(a.top + b.top - kBias), least);
}

// Four rows by four columns.
template <bool Odd>
struct Block {
  __m512 addend, to_units, unit;
  __m512i exponent, sum;

  template <int Four>
  void begin(const float* c, __m512i exponents) {
    addend = _mm512_loadu_ps(c);
    const __m512i tops = _mm512_shuffle_epi8(exponents, read(kToTops<Four>.at));
    __m512i own = _mm512_and_si512(_mm512_castps_si512(addend), all(0x7f800000));
    if constexpr (Odd)  // the least exponent of f16, in which C is
      own = _mm512_mask_max_epi32(own, _mm512_test_epi32_mask(own, own), own,
                                  all((kBias - 14) << kMantissa));
    exponent = _mm512_max_epi32(own, _mm512_srli_epi32(tops, 1));
    to_units = _mm512_castsi512_ps(
        _mm512_sub_epi32(all(int(uint32_t(2 * kBias + kFraction) << kMantissa)), exponent));
    unit = _mm512_castsi512_ps(_mm512_sub_epi32(exponent, all(kFraction << kMantissa)));
    sum = all(0);
  }
  void add(__m512 row, const float* columns) {
    const __m512 product = _mm512_mul_ps(row, _mm512_broadcast_f32x4(_mm_load_ps(columns)));
    sum = _mm512_add_epi32(sum, _mm512_cvttps_epi32(_mm512_mul_ps(product, to_units)));
  }
  // Sixteen products cannot overflow, but with C they can: `bad` is then negative.
  __m512 end(__m512i& bad, __m512i& highest) {
    highest = _mm512_max_epi32(highest, exponent);
    const __m512i c = _mm512_cvttps_epi32(_mm512_mul_ps(addend, to_units));
    const __m512i total = _mm512_add_epi32(sum, c);
    constexpr int kUnlikeBoth =
        0x42;  // third operand's sign is neither the first's nor the second's
    bad = _mm512_or_si512(bad, _mm512_ternarylogic_epi32(sum, c, total, kUnlikeBoth));
    __m512 cut = _mm512_cvt_roundepi32_ps(total, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    if constexpr (Odd)
      cut = _mm512_castsi512_ps(_mm512_mask_or_epi32(
          _mm512_castps_si512(cut), _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(cut), total),
          _mm512_castps_si512(cut), all(1)));
    // Below kLeast there is nothing but C.
    return _mm512_mask_add_ps(_mm512_mul_ps(cut, unit),
                              _mm512_cmplt_epi32_mask(exponent, all(kLeast << kMantissa)), addend,
                              _mm512_setzero_ps());
  }
};

// C where it lies, as in DenseSums.
struct Addends {
  const float* at[2][2][2];
};
inline Addends addends(const DenseSums& c) {
  Addends a;
  for (int i = 0; i < 8; ++i) a.at[i / 4][i / 2 % 2][i % 2] = c.at[i / 4][i / 2 % 2][i % 2];
  return a;
}
inline Addends addends(const uint32_t* const* registers) {
  Addends a;
  for (int i = 0; i < 8; ++i)
    a.at[i / 4][i / 2 % 2][i % 2] =
        reinterpret_cast<const float*>(registers[i / 4 * 2 + i % 2] + 16 * (i / 2 % 2));
  return a;
}
// False where this arithmetic does not do; D is of no use then.
template <Type K, int Steps, bool Odd, class A>
[[gnu::always_inline]] inline bool multiply_add(const A& a, const DenseColumns& b, const Addends& c,
                                                Results& d) {
  if (K == Type::bf16 && (a.top + b.top - kBias - kFar < kLeast || a.top + b.top - kBias > 253))
    return false;
  __mmask64 untrusted = 0;
  __m512i bad = all(0), highest = all(0);
  const auto eight_rows = [&]<int h>() {
    const __m512i tops = exponents<K, Steps>(a, b, h, untrusted);
    const auto four_rows = [&]<int q>() {
      Block<Odd> even, odd;
      even.template begin<2 * q>(c.at[h][q][0], tops);
      odd.template begin<2 * q + 1>(c.at[h][q][1], tops);
#pragma GCC unroll 1  // or B is kept in more registers than there are
      for (int k = 0; k < 8 * Steps; k += 4) {
        const auto step = [&]<int i>() {
          const __m512 x = row<i>(a, 2 * h + q, k);
          even.add(x, b.value[k + i]);
          odd.add(x, b.value[k + i] + 4);
        };
        step.template operator()<0>();
        step.template operator()<1>();
        step.template operator()<2>();
        step.template operator()<3>();
      }
      d.at[h][q][0] = even.end(bad, highest);
      d.at[h][q][1] = odd.end(bad, highest);
    };
    four_rows.template operator()<0>();
    four_rows.template operator()<1>();
  };
  eight_rows.template operator()<0>();
  eight_rows.template operator()<1>();
  return untrusted == 0 &&
         (_mm512_movepi32_mask(bad) | _mm512_cmpge_epi32_mask(highest, all(0x7f800000))) == 0;
}

template <Type K, int Steps>
bool multiply(const DenseProduct& x) {
  DenseRows a;
  DenseColumns b;
  Results results[2];
  for (uint32_t r = 0; r < x.row_tiles; ++r) {
    if (!load<K, Steps>(a, x.sources<2 * Steps>(x.a + 2 * Steps * r).at)) return false;
    for (uint32_t t = 0; t < x.column_tiles; ++t) {
      if (r == 0 && !load<K, Steps>(b, x.sources<Steps>(x.b + Steps * t).at)) return false;
      DenseSums halves;
      if (x.half_c) load_halves(halves, x.sources<2>(x.c + 2 * (r + t)).at);
      const Addends c = x.half_c ? addends(halves) : addends(x.sources<4>(x.c + 4 * (r + t)).at);
      if (!(x.half_c && x.half_d ? multiply_add<K, Steps, true>(a, b, c, results[r + t])
                                 : multiply_add<K, Steps, false>(a, b, c, results[r + t])))
        return false;
    }
  }
  for (uint32_t t = 0; t < x.row_tiles * x.column_tiles; ++t)
    if (x.half_d) store_halves(results[t], x.results<2>(x.d + 2 * t).at, !x.half_c);
    else store(results[t], x.results<4>(x.d + 4 * t).at);
  return true;
}
template <Type K>
bool multiply_tile(const WideRows& a, const DenseColumns& b, bool half, bool adds,
                   uint32_t* const* d) {
  static constexpr DenseSums kZeros{};
  Results results;
  if (half) {
    DenseSums halves;
    if (adds) load_halves(halves, d);
    if (!multiply_add<K, 2, true>(a, b, addends(adds ? halves : kZeros), results)) return false;
    store_halves(results, d, false);
  } else {
    if (!multiply_add<K, 2, false>(a, b, adds ? addends(d) : addends(kZeros), results))
      return false;
    store(results, d);
  }
  return true;
}
template <Type K>
bool load_wide(WideRows& a, const uint32_t* const* tiles) {
  DenseRows rows;
  if (!load<K, 2>(rows, tiles)) return false;
  widen_rows(rows, a);
  return true;
}
#pragma GCC pop_options
#pragma GCC diagnostic pop

const bool kSupported = has_avx512();

}  // namespace

bool can_multiply_dense() { return kSupported; }

template <Type K>
bool multiply_dense(const DenseProduct& x) {
  if (!kSupported) return false;
  return x.steps == 2 ? multiply<K, 2>(x) : multiply<K, 1>(x);
}
template <Type K>
bool load_dense(WideRows& a, const uint32_t* const* tiles) {
  return load_wide<K>(a, tiles);
}
template <Type K>
bool load_dense(DenseColumns& b, const uint32_t* const* tiles) {
  return load<K, 2>(b, tiles);
}
template <Type K>
bool multiply_dense(const WideRows& a, const DenseColumns& b, bool half, bool adds,
                    uint32_t* const* d) {
  return multiply_tile<K>(a, b, half, adds, d);
}
#else
bool can_multiply_dense() { return false; }
template <Type K>
bool multiply_dense(const DenseProduct&) {
  return false;
}
template <Type K>
bool load_dense(WideRows&, const uint32_t* const*) {
  return false;
}
template <Type K>
bool load_dense(DenseColumns&, const uint32_t* const*) {
  return false;
}
template <Type K>
bool multiply_dense(const WideRows&, const DenseColumns&, bool, bool, uint32_t* const*) {
  return false;
}
#endif
#define RIDGE_DENSE(K)                                                              \
  template bool multiply_dense<K>(const DenseProduct&);                             \
  template bool load_dense<K>(WideRows&, const uint32_t* const*);                   \
  template bool load_dense<K>(DenseColumns&, const uint32_t* const*);               \
  template bool multiply_dense<K>(const WideRows&, const DenseColumns&, bool, bool, \
                                  uint32_t* const*);
RIDGE_DENSE(Type::f16)
RIDGE_DENSE(Type::bf16)
#undef RIDGE_DENSE

}  // namespace ridge::vm::tensor
