#include "vm/isa/tensor_core_rows.h"

#include <algorithm>
#include <array>

#include "vm/isa/float.h"

namespace ridge::vm::tensor {
#if defined(__AVX2__)
namespace {

constexpr int kMantissa = 23, kBias = 127;
constexpr int kNothing = 255;  // the distance of a zero, which any sum saturates to
// Distances from here on are not told apart, and a sum that is no less is not trusted.
constexpr int kFar = 60;
// From the first exponent on the unit of a sum, and its inverse, are normal; up to the second one
// no sum overflows.
constexpr int kLeast = kFraction + 2, kMost = 240;

inline __m256i all(int x) { return _mm256_set1_epi32(x); }
inline __m256i all_bytes(int x) { return _mm256_set1_epi8(char(x)); }
inline __m256i bits(__m256 x) { return _mm256_castps_si256(x); }
inline __m256 floats(__m256i x) { return _mm256_castsi256_ps(x); }
inline __m256i read(const void* p) { return _mm256_load_si256(static_cast<const __m256i*>(p)); }
inline void write(void* p, __m256i x) { _mm256_store_si256(static_cast<__m256i*>(p), x); }
inline __m128i read_half(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

// --- operands ---

constexpr int elements_of(Element e) { return 128 / bits_of(e); }  // in 16 bytes
constexpr int least_exponent(Element e) {
  return e == Element::f16 || e == Element::e5m2 ? kBias - 14 : e == Element::e4m3 ? kBias - 6 : 1;
}

template <Element E>
constexpr auto kBytes = [] {
  std::array<float, 256> values{};
  for (uint32_t i = 0; i < 256; ++i) values[i] = value_of(E, i).value;
  return values;
};

// 16 bytes.
template <Element E>
inline void widen(const uint32_t* from, float* to) {
  const __m128i x = read_half(from);
  if constexpr (E == Element::f16) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(x));
  } else if constexpr (E == Element::bf16) {
    _mm256_storeu_ps(to, floats(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)));
  } else if constexpr (E == Element::tf32) {
    _mm_storeu_ps(to, _mm_castsi128_ps(_mm_and_si128(x, _mm_set1_epi32(int(0xffffe000u)))));
  } else {
    static const auto kValues = kBytes<E>();
    for (int i = 0; i < 16; ++i) to[i] = kValues[from[i / 4] >> 8 * (i % 4) & 255];
  }
}

// Eight rows of eight to columns.
inline void transpose(const __m256 (&rows)[8], __m256 (&columns)[8]) {
  __m256 pairs[8], fours[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      fours[i + 2 * j] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0x44);
      fours[i + 2 * j + 1] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0xee);
    }
  for (int i = 0; i < 4; ++i) {
    columns[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    columns[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}

inline __m256i size_of(__m256 x) { return _mm256_and_si256(bits(x), all(INT32_MAX)); }
inline int largest(__m256i x) {
  alignas(32) int32_t lanes[8];
  write(lanes, x);
  return *std::max_element(lanes, lanes + 8);
}
// The exponent at distance 0, for values of this largest size; -1 for infinities and NaNs.
inline int top_of(int size, int least) {
  if (size == 0) return kBias;
  return size >= 255 << kMantissa ? -1 : std::max(size >> kMantissa, least);
}
inline __m256i distances(__m256 values, int top, int least) {
  const __m256i size = size_of(values);
  const __m256i field = _mm256_max_epi32(_mm256_srli_epi32(size, kMantissa), all(least));
  const __m256i distance = _mm256_min_epi32(_mm256_sub_epi32(all(top), field), all(kFar));
  const __m256i nothing = _mm256_srli_epi32(_mm256_cmpeq_epi32(size, all(0)), 24);
  return _mm256_or_si256(distance, nothing);
}

template <Element E>
bool load(RowFactors& a, const uint32_t* const* tiles) {
  constexpr int kPerTile = elements_of(E), kLeastExponent = least_exponent(E);
  for (int row = 0; row < 16; ++row)
    for (int s = 0; s < 2; ++s)
      widen<E>(tiles[2 * s + row / 8] + 4 * (row % 8), a.value[row] + kPerTile * s);
  __m256i most = all(0);
  for (const auto& row : a.value)
    for (int k = 0; k < 2 * kPerTile; k += 8)
      most = _mm256_max_epi32(most, size_of(_mm256_load_ps(row + k)));
  a.top = top_of(largest(most), kLeastExponent);
  if (a.top < 0) return false;
  const __m256i kRepeat = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 2 * kPerTile; k += 8)
      write(a.distance[row] + k,
            _mm256_shuffle_epi8(distances(_mm256_load_ps(a.value[row] + k), a.top, kLeastExponent),
                                kRepeat));
  return true;
}

// Eight columns, 16 bytes of K each, to rows of `value`.
template <Element E>
inline void widen_columns(const uint32_t* tile, float (*value)[8 * kGroupTiles]) {
  constexpr int kPerTile = elements_of(E);
  alignas(32) float columns[8][std::max(kPerTile, 8)];
  for (int i = 0; i < 8; ++i) widen<E>(tile + 4 * i, columns[i]);
  for (int k = 0; k < kPerTile; k += 8) {
    __m256 x[8], y[8];
    for (int i = 0; i < 8; ++i) x[i] = _mm256_load_ps(columns[i < 4 ? 2 * i : 2 * i - 7] + k);
    transpose(x, y);
    for (int i = 0; i < std::min(kPerTile, 8); ++i) _mm256_store_ps(value[k + i], y[i]);
  }
}

template <Element E>
bool load(ColumnFactors& b, const uint32_t* tiles, uint32_t columns) {
  constexpr int kPerTile = elements_of(E), kLeastExponent = least_exponent(E);
  for (uint32_t t = 0; t < columns; ++t)
    for (uint32_t s = 0; s < 2; ++s)
      widen_columns<E>(tiles + 32 * (2 * t + s),
                       reinterpret_cast<float(*)[8 * kGroupTiles]>(b.value[kPerTile * s] + 8 * t));
  for (int k = 0; k < 2 * kPerTile; ++k)
    for (uint32_t t = columns; t < kGroupTiles; ++t) write(b.value[k] + 8 * t, all(0));
  __m256i most = all(0);
  for (int k = 0; k < 2 * kPerTile; ++k)
    for (uint32_t t = 0; t < kGroupTiles; ++t)
      most = _mm256_max_epi32(most, size_of(_mm256_load_ps(b.value[k] + 8 * t)));
  b.top = top_of(largest(most), kLeastExponent);
  if (b.top < 0) return false;
  for (int k = 0; k < 2 * kPerTile; ++k) {
    __m256i x[kGroupTiles];
    for (uint32_t t = 0; t < kGroupTiles; ++t)
      x[t] = distances(_mm256_load_ps(b.value[k] + 8 * t), b.top, kLeastExponent);
    const __m256i packed =
        _mm256_packus_epi16(_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3]));
    const __m256i kInOrder = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    write(b.distance[k], _mm256_permutevar8x32_epi32(packed, kInOrder));
  }
  return true;
}

// --- the product ---

template <bool Half>
inline __m256 load_sums(const uint32_t* const* d, int half, int row) {
  if constexpr (Half) {
    const __m128i pairs = read_half(d[half] + 4 * row);
    const __m128i even = _mm_and_si128(pairs, _mm_set1_epi32(0xffff));
    return _mm256_cvtph_ps(_mm_packus_epi32(even, _mm_srli_epi32(pairs, 16)));
  } else {
    const auto four = [&](int odd) {
      return _mm_loadu_ps(reinterpret_cast<const float*>(d[2 * half + odd] + 4 * row));
    };
    return _mm256_insertf128_ps(_mm256_castps128_ps256(four(0)), four(1), 1);
  }
}
template <bool Half>
inline void store_sums(__m256 x, uint32_t* const* d, int half, int row) {
  if constexpr (Half) {
    __m128i y = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    y = _mm_andnot_si128(_mm_cmpeq_epi16(y, _mm_set1_epi16(INT16_MIN)), y);  // no -0
    _mm_storeu_si128(reinterpret_cast<__m128i*>(d[half] + 4 * row),
                     _mm_unpacklo_epi16(y, _mm_srli_si128(y, 8)));
  } else {
    _mm_storeu_ps(reinterpret_cast<float*>(d[2 * half] + 4 * row), _mm256_castps256_ps128(x));
    _mm_storeu_ps(reinterpret_cast<float*>(d[2 * half + 1] + 4 * row), _mm256_extractf128_ps(x, 1));
  }
}

// How a format's products are added.
template <int Depth, int Fraction, bool Half>
struct Way {
  static constexpr int kDepth = Depth, kFraction = Fraction;
  static constexpr bool kHalf = Half, kNarrow = Fraction == kNarrowFraction;
  // C has a bit more than the fraction, a product two.
  static constexpr int kLargestC = 2 << Fraction;
  static constexpr bool kOverflows = (int64_t(Depth) << (Fraction + 2)) + kLargestC > INT32_MAX;
};

// One row by eight columns.
template <class W>
struct Row {
  __m256 addend, to_units, unit, result;
  __m256i exponent, sum = all(0);

  // `tops`: eight exponents of products, in bytes; 0 where all are zero.
  void begin(__m256 c, const uint8_t* tops) {
    // Bits that are below the unit in any case.
    if constexpr (W::kNarrow && !W::kHalf)
      c = floats(_mm256_and_si256(bits(c), all(-1 << (kMantissa - kNarrowFraction))));
    addend = c;
    __m256i own = _mm256_and_si256(bits(c), all(0x7f800000));
    if constexpr (W::kHalf)  // the least exponent of f16, in which C is
      own = _mm256_andnot_si256(_mm256_cmpeq_epi32(own, all(0)),
                                _mm256_max_epi32(own, all((kBias - 14) << kMantissa)));
    const __m256i products = _mm256_slli_epi32(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(tops))), kMantissa);
    exponent = _mm256_max_epi32(own, products);
    to_units = floats(
        _mm256_sub_epi32(all(int(uint32_t(2 * kBias + W::kFraction) << kMantissa)), exponent));
    unit = floats(_mm256_sub_epi32(exponent, all(W::kFraction << kMantissa)));
  }
  void add(__m256 a, __m256 b) {
    const __m256 product = _mm256_mul_ps(a, b);
    sum = _mm256_add_epi32(sum, _mm256_cvttps_epi32(_mm256_mul_ps(product, to_units)));
  }
  // Conversions to f32 must round towards zero.
  void end() {
    const __m256i total =
        _mm256_add_epi32(sum, _mm256_cvttps_epi32(_mm256_mul_ps(addend, to_units)));
    __m256 cut = _mm256_cvtepi32_ps(total);
    if constexpr (W::kHalf) {  // the last bit says that something was lost
      const __m256i same = _mm256_cmpeq_epi32(_mm256_cvttps_epi32(cut), total);
      cut = floats(_mm256_or_si256(bits(cut), _mm256_andnot_si256(same, all(1))));
    } else if constexpr (W::kNarrow) {
      cut = floats(_mm256_and_si256(bits(cut), all(-1 << (kMantissa - kNarrowFraction))));
    }
    result = _mm256_mul_ps(cut, unit);
  }
  // Below kLeast there is nothing but C. -0 becomes 0.
  void end_small() {
    const __m256i small = _mm256_cmpgt_epi32(all(kLeast << kMantissa), exponent);
    result = _mm256_add_ps(_mm256_blendv_ps(result, addend, floats(small)), _mm256_setzero_ps());
  }
};

// Exponents of the products of rows i and i + 8 with 32 columns, 0 where all are zero. False if
// some are not to be trusted.
template <int Depth>
inline bool find_exponents(const RowFactors& a, const ColumnFactors& b, int row,
                           uint8_t (&to)[2][32]) {
  __m256i least[2] = {all(-1), all(-1)}, bad = all(0);
  for (int k = 0; k < Depth; ++k) {
    const __m256i columns = read(b.distance[k]);
    for (int h = 0; h < 2; ++h)
      least[h] = _mm256_min_epu8(least[h],
                                 _mm256_adds_epu8(all(int(a.distance[row + 8 * h][k])), columns));
  }
  for (int h = 0; h < 2; ++h) {
    const __m256i beyond = _mm256_sub_epi8(least[h], all_bytes(kFar));
    constexpr int kRange = kNothing - kFar - 1;
    bad =
        _mm256_or_si256(bad, _mm256_cmpeq_epi8(_mm256_min_epu8(beyond, all_bytes(kRange)), beyond));
    write(to[h], _mm256_subs_epu8(all_bytes(a.top + b.top - kBias), least[h]));
  }
  return _mm256_testz_si256(bad, bad);
}

// Rows i and i + 8 by so many tiles. False, and nothing is written, where this arithmetic does not
// do.
template <class W, uint32_t Tiles>
[[gnu::always_inline]] inline bool multiply_tiles(const RowFactors& a, const ColumnFactors& b,
                                                  const GroupProduct& product, int row,
                                                  uint32_t first, const uint8_t (&tops)[2][32]) {
  constexpr uint32_t kRegisters = W::kHalf ? 2 : 4;
  Row<W> rows[2][Tiles];
  for (uint32_t t = 0; t < Tiles; ++t)
    for (int h = 0; h < 2; ++h)
      rows[h][t].begin(load_sums<W::kHalf>(product.c + kRegisters * (first + t), h, row),
                       tops[h] + 8 * (first + t));
#pragma GCC unroll 4  // with more, GCC rearranges the sums until they do not fit into registers
  for (int k = 0; k < W::kDepth; ++k) {
    __m256 columns[Tiles];
    for (uint32_t t = 0; t < Tiles; ++t) columns[t] = _mm256_load_ps(b.value[k] + 8 * (first + t));
    for (int h = 0; h < 2; ++h) {
      const __m256 x = _mm256_set1_ps(a.value[row + 8 * h][k]);
      for (uint32_t t = 0; t < Tiles; ++t) rows[h][t].add(x, columns[t]);
    }
  }
  __m256i lowest = rows[0][0].exponent, highest = lowest, largest_sum = all(0);
  for (uint32_t t = 0; t < Tiles; ++t)
    for (int h = 0; h < 2; ++h) {
      Row<W>& x = rows[h][t];
      x.end();
      lowest = _mm256_min_epi32(lowest, x.exponent);
      highest = _mm256_max_epi32(highest, x.exponent);
      if constexpr (W::kOverflows)
        largest_sum = _mm256_max_epi32(largest_sum, _mm256_abs_epi32(x.sum));
    }
  const __m256i bad =
      _mm256_or_si256(_mm256_cmpgt_epi32(largest_sum, all(INT32_MAX - W::kLargestC)),
                      _mm256_cmpgt_epi32(highest, all(kMost << kMantissa)));
  if (!_mm256_testz_si256(bad, bad)) return false;
  const __m256i small = _mm256_cmpgt_epi32(all(kLeast << kMantissa), lowest);
  if (!_mm256_testz_si256(small, small))
    for (auto& half : rows)
      for (Row<W>& x : half) x.end_small();
  for (uint32_t t = 0; t < Tiles; ++t)
    for (int h = 0; h < 2; ++h)
      store_sums<W::kHalf>(rows[h][t].result, product.d + kRegisters * (first + t), h, row);
  return true;
}

template <class W>
[[gnu::noinline]] uint32_t multiply(const RowFactors& a, const ColumnFactors& b,
                                    const GroupProduct& product) {
  uint32_t failed = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const int row = int(i);
    alignas(32) uint8_t tops[2][32];
    if (!find_exponents<W::kDepth>(a, b, row, tops)) {
      failed |= 0x01010101u << i;
      continue;
    }
    uint32_t t = 0;
    for (; t + 2 <= product.tiles; t += 2)
      if (!multiply_tiles<W, 2>(a, b, product, row, t, tops)) failed |= 0x0101u << (8 * t + i);
    if (t < product.tiles)
      if (!multiply_tiles<W, 1>(a, b, product, row, t, tops)) failed |= 1u << (8 * t + i);
  }
  return failed;
}

template <int Depth, int Fraction>
uint32_t multiply(const RowFactors& a, const ColumnFactors& b, const GroupProduct& product) {
  return product.half ? multiply<Way<Depth, Fraction, true>>(a, b, product)
                      : multiply<Way<Depth, Fraction, false>>(a, b, product);
}

}  // namespace

bool load_factors(RowFactors& a, Element e, const uint32_t* const* tiles) {
  switch (e) {
    case Element::f16: return load<Element::f16>(a, tiles);
    case Element::bf16: return load<Element::bf16>(a, tiles);
    case Element::tf32: return load<Element::tf32>(a, tiles);
    case Element::e4m3: return load<Element::e4m3>(a, tiles);
    case Element::e5m2: return load<Element::e5m2>(a, tiles);
    default: return false;
  }
}
bool load_factors(ColumnFactors& b, Element e, const uint32_t* tiles, uint32_t columns) {
  switch (e) {
    case Element::f16: return load<Element::f16>(b, tiles, columns);
    case Element::bf16: return load<Element::bf16>(b, tiles, columns);
    case Element::tf32: return load<Element::tf32>(b, tiles, columns);
    case Element::e4m3: return load<Element::e4m3>(b, tiles, columns);
    case Element::e5m2: return load<Element::e5m2>(b, tiles, columns);
    default: return false;
  }
}

uint32_t multiply_group(const RowFactors& a, const ColumnFactors& b, const GroupProduct& product) {
  const int top = a.top + b.top - kBias;
  if (top - kFar < kLeast || top > kMost) return ~0u >> (32 - 8 * product.tiles);
  ArithmeticScope towards_zero(Round::rz);
  switch (bits_of(product.factors)) {
    case 32: return multiply<8, kFraction>(a, b, product);
    case 16: return multiply<16, kFraction>(a, b, product);
    default: return multiply<32, kNarrowFraction>(a, b, product);
  }
}
#else
bool load_factors(RowFactors&, Element, const uint32_t* const*) { return false; }
bool load_factors(ColumnFactors&, Element, const uint32_t*, uint32_t) { return false; }
uint32_t multiply_group(const RowFactors&, const ColumnFactors&, const GroupProduct& product) {
  return ~0u >> (32 - 8 * product.tiles);
}
#endif

}  // namespace ridge::vm::tensor
