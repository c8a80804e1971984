// Comparing two registers lane by lane: 32 results as the bits of a predicate.
//
// A *source* says what the lanes hold and how they compare. 32- and 64-bit lanes are compared as
// vectors whose masks are packed down to bytes and read by one movemask; half precision compares as
// integers of the same order.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vm/isa/lane.h"

namespace ridge::vm {

// The first six are false for NaN, the next six true; integers have the first six only.
enum class Cmp : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

namespace detail {

#ifdef __AVX2__
// 32 lanes of all ones or all zeros, in `Size` vectors, as bits in the order of the lanes.
template <int Size>
inline uint32_t packed_bits(const __m256i* m) {
  if constexpr (Size == 4) {
    const __m256i words =
        _mm256_packs_epi16(_mm256_packs_epi32(m[0], m[1]), _mm256_packs_epi32(m[2], m[3]));
    // Packing works in 128-bit halves: bring the groups of four lanes back in order.
    return uint32_t(_mm256_movemask_epi8(
        _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))));
  } else {
    static_assert(Size == 8);
    const __m256i low =
        _mm256_packs_epi32(_mm256_packs_epi32(m[0], m[1]), _mm256_packs_epi32(m[2], m[3]));
    const __m256i high =
        _mm256_packs_epi32(_mm256_packs_epi32(m[4], m[5]), _mm256_packs_epi32(m[6], m[7]));
    // Pairs of lanes: 0 2 4 … 14 below, 1 3 5 … 15 above.
    const __m256i bytes = _mm256_packs_epi16(low, high);
    const __m128i even = _mm256_castsi256_si128(bytes), odd = _mm256_extracti128_si256(bytes, 1);
    return uint32_t(_mm_movemask_epi8(_mm_unpacklo_epi16(even, odd))) |
           uint32_t(_mm_movemask_epi8(_mm_unpackhi_epi16(even, odd))) << 16;
  }
}
#endif

template <class T>
struct Vector {
  typedef T type __attribute__((vector_size(32)));
};

// f compares two vectors, or two scalars where there are no such vectors.
template <class T, class F>
inline uint32_t vector_bits(const T* a, const T* b, F f) {
#ifdef __AVX2__
  constexpr int kLanes = 32 / sizeof(T);
  __m256i m[sizeof(T)];
#pragma GCC unroll 8
  for (int k = 0; k < int(sizeof(T)); ++k) {
    typename Vector<T>::type x, y;
    std::memcpy(&x, a + k * kLanes, 32);
    std::memcpy(&y, b + k * kLanes, 32);
    m[k] = __m256i(f(x, y));
  }
  return packed_bits<sizeof(T)>(m);
#else
  return lane_bits([&](int i) { return bool(f(a[i], b[i])); });
#endif
}

struct Eq {
  auto operator()(auto a, auto b) const { return a == b; }
};
struct Lt {
  auto operator()(auto a, auto b) const { return a < b; }
};
struct Le {
  auto operator()(auto a, auto b) const { return a <= b; }
};
struct Gt {
  auto operator()(auto a, auto b) const { return a > b; }
};
struct Ge {
  auto operator()(auto a, auto b) const { return a >= b; }
};
struct LtGt {
  auto operator()(auto a, auto b) const { return (a < b) | (a > b); }
};
struct Num {
  auto operator()(auto a, auto b) const { return (a == a) & (b == b); }
};

// `bits(f)` applies one of the functions above to all lanes.
template <Cmp C, class Bits>
inline uint32_t ordered_bits(Bits bits) {
  if constexpr (C == Cmp::eq) return bits(Eq{});
  else if constexpr (C == Cmp::ne) return bits(LtGt{});
  else if constexpr (C == Cmp::lt) return bits(Lt{});
  else if constexpr (C == Cmp::le) return bits(Le{});
  else if constexpr (C == Cmp::gt) return bits(Gt{});
  else if constexpr (C == Cmp::ge) return bits(Ge{});
  else if constexpr (C == Cmp::equ) return ~bits(LtGt{});
  else if constexpr (C == Cmp::neu) return ~bits(Eq{});
  else if constexpr (C == Cmp::ltu) return ~bits(Ge{});
  else if constexpr (C == Cmp::leu) return ~bits(Gt{});
  else if constexpr (C == Cmp::gtu) return ~bits(Le{});
  else if constexpr (C == Cmp::geu) return ~bits(Lt{});
  else if constexpr (C == Cmp::num) return bits(Num{});
  else return ~bits(Num{});
}

}  // namespace detail

// --- sources ---

template <class T>
struct IntSource {
  using Lane = T;
  template <Cmp C>
  static uint32_t bits(const T* a, const T* b) {
    const auto all = [&](auto f) -> uint32_t {
      if constexpr (sizeof(T) == 2) return lane_bits([&](int i) { return f(a[i], b[i]); });
      else return detail::vector_bits(a, b, f);
    };
    if constexpr (C == Cmp::eq) return all(detail::Eq{});
    else if constexpr (C == Cmp::ne) return ~all(detail::Eq{});
    else if constexpr (C == Cmp::lt) return all(detail::Lt{});
    else if constexpr (C == Cmp::ge) return ~all(detail::Lt{});
    else if constexpr (C == Cmp::gt) return all(detail::Gt{});
    else if constexpr (C == Cmp::le) return ~all(detail::Gt{});
    else return 0;
  }
};

// f32 with subnormals read as zero: below the smallest normal number only the sign is kept.
inline float flushed(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u & 0x7f800000u ? x : u & 0x80000000u ? -0.0f : 0.0f;
}
#ifdef __AVX2__
inline auto flushed(detail::Vector<float>::type x) {
  using U = detail::Vector<uint32_t>::type;
  const U u = U(x);
  const U normal = U((u & 0x7f800000u) != 0);
  return detail::Vector<float>::type(u & (normal | 0x80000000u));
}
#endif

template <class T, bool Ftz = false>
struct FloatSource {
  using Lane = T;
  template <Cmp C>
  static uint32_t bits(const T* a, const T* b) {
    return detail::ordered_bits<C>([&](auto f) {
      return detail::vector_bits(a, b, [&](auto x, auto y) {
        if constexpr (Ftz) return f(flushed(x), flushed(y));
        else return f(x, y);
      });
    });
  }
};

// f16 and bf16, one to a 16-bit lane. kInfinity's bits above are NaNs.
template <uint16_t kInfinity, bool Ftz = false>
struct HalfSource {
  using Lane = uint16_t;

  // The value's place in the order of all values, or kNaN.
  static constexpr int32_t kNaN = 1 << 20;
  static int32_t rank(uint16_t x) {
    const int32_t magnitude = x & 0x7fff;
    const int32_t value = Ftz && !(x & kInfinity) ? 0 : magnitude;
    return magnitude > kInfinity ? kNaN : x & 0x8000 ? -value : value;
  }
  template <Cmp C>
  static bool compare(uint16_t x, uint16_t y) {
    const int32_t a = rank(x), b = rank(y);
    const bool number = (a != kNaN) & (b != kNaN);
    return detail::ordered_bits<C>([&](auto f) -> uint32_t {
             if constexpr (std::is_same_v<decltype(f), detail::Num>) return number;
             else return number & bool(f(a, b));
           }) &
           1;
  }
  template <Cmp C>
  static uint32_t bits(const uint16_t* a, const uint16_t* b) {
    return lane_bits([&](int i) { return compare<C>(a[i], b[i]); });
  }
};

// Two to a 32-bit lane; compared by the halves' source.
template <class Half>
struct PairSource {
  using Lane = uint32_t;
  template <Cmp C>
  static uint32_t bits(const uint32_t* a, const uint32_t* b, int shift) {
    return lane_bits([&](int i) {
      return Half::template compare<C>(uint16_t(a[i] >> shift), uint16_t(b[i] >> shift));
    });
  }
};

// A comparison known only at run time; `more` goes to the source.
template <class S, class... More>
[[gnu::noinline]] uint32_t compare_lanes(Cmp c, const typename S::Lane* a,
                                         const typename S::Lane* b, More... more) {
  switch (c) {
    case Cmp::eq: return S::template bits<Cmp::eq>(a, b, more...);
    case Cmp::ne: return S::template bits<Cmp::ne>(a, b, more...);
    case Cmp::lt: return S::template bits<Cmp::lt>(a, b, more...);
    case Cmp::le: return S::template bits<Cmp::le>(a, b, more...);
    case Cmp::gt: return S::template bits<Cmp::gt>(a, b, more...);
    case Cmp::ge: return S::template bits<Cmp::ge>(a, b, more...);
    case Cmp::equ: return S::template bits<Cmp::equ>(a, b, more...);
    case Cmp::neu: return S::template bits<Cmp::neu>(a, b, more...);
    case Cmp::ltu: return S::template bits<Cmp::ltu>(a, b, more...);
    case Cmp::leu: return S::template bits<Cmp::leu>(a, b, more...);
    case Cmp::gtu: return S::template bits<Cmp::gtu>(a, b, more...);
    case Cmp::geu: return S::template bits<Cmp::geu>(a, b, more...);
    case Cmp::num: return S::template bits<Cmp::num>(a, b, more...);
    case Cmp::nan: return S::template bits<Cmp::nan>(a, b, more...);
  }
  return 0;
}

}  // namespace ridge::vm
