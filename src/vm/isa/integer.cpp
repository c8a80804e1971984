// Integer arithmetic: add sub mul mad sad div rem abs neg min max, their 24-bit and packed 16-bit
// forms. Bit counting and fields are in bits.cpp, the carry chain in carry.cpp.
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <limits>

#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

template <class T>
constexpr T mul_hi(T a, T b) {
  return T(Wider<T>(a) * Wider<T>(b) >> (8 * sizeof(T)));
}
constexpr int32_t clamp32(int64_t x) {
  return int32_t(std::clamp<int64_t>(x, std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max()));
}

// --- products ---

enum class Part { lo, hi };

template <Part P>
constexpr auto product = [](auto a, auto b) {
  if constexpr (P == Part::lo) return wrap_mul(a, b);
  else return mul_hi(a, b);
};
template <Part P>
constexpr auto product_sum = [](auto a, auto b, auto c) { return wrap_add(product<P>(a, b), c); };

// The low 24 bits of each factor, sign-extended when T is signed; of the 48-bit product the low 32
// bits, or the high.
template <Part P>
constexpr auto product24 = []<class T>(T a, T b) {
  using W = Wider<T>;
  const W p = W(T(uint32_t(a) << 8) >> 8) * W(T(uint32_t(b) << 8) >> 8);
  return P == Part::lo ? T(uint64_t(p)) : T(uint64_t(p) >> 16);
};
template <Part P>
constexpr auto product24_sum =
    []<class T>(T a, T b, T c) { return wrap_add(product24<P>(a, b), c); };

// 32 x 32 -> 64 bits: the compiler spends twice the shuffles on this loop.
template <class T>
inline void wide_products(const T* a, const T* b, Wider<T>* d) {
#ifdef __AVX2__
  if constexpr (sizeof(T) == 4) {
    for (int i = 0; i < kWarpSize; i += 4) {
      const __m128i a4 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i));
      const __m128i b4 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i));
      const __m256i p =
          std::is_signed_v<T>
              ? _mm256_mul_epi32(_mm256_cvtepi32_epi64(a4), _mm256_cvtepi32_epi64(b4))
              : _mm256_mul_epu32(_mm256_cvtepu32_epi64(a4), _mm256_cvtepu32_epi64(b4));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(d + i), p);
    }
    return;
  }
#endif
  each_lane<true>(d, kAllLanes, [&](int i) { return Wider<T>(Wider<T>(a[i]) * Wider<T>(b[i])); });
}

template <class T, bool Full>
const Inst* mul_wide(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  const T* b = w.src<T>(inst->b);
  if constexpr (Full) {
    wide_products(a, b, w.reg<Wider<T>>(inst->d));
  } else {
    each_lane<false>(w.reg<Wider<T>>(inst->d), w.mask,
                     [&](int i) { return Wider<T>(Wider<T>(a[i]) * Wider<T>(b[i])); });
  }
  return inst + 1;
}
template <class T, bool Full>
const Inst* mad_wide(Warp& w, const Inst* inst) {
  using W = Wider<T>;
  const W* c = w.src<W>(inst->c);
  W product[kWarpSize];
  wide_products(w.src<T>(inst->a), w.src<T>(inst->b), product);
  each_lane<Full>(w.reg<W>(inst->d), w.mask, [&](int i) { return wrap_add(product[i], c[i]); });
  return inst + 1;
}
Handlers select_mul_wide(const Form& form) {
  return detail::Pick<Int16_32>::of(form.type(), []<Type K>() -> Handlers {
    return {mul_wide<LaneT<K>, true>, mul_wide<LaneT<K>, false>};
  });
}
Handlers select_mad_wide(const Form& form) {
  return detail::Pick<Int16_32>::of(form.type(), []<Type K>() -> Handlers {
    return {mad_wide<LaneT<K>, true>, mad_wide<LaneT<K>, false>};
  });
}

// --- division ---

// What the hardware's routines leave, as quotient and as remainder, for a zero divisor.
template <class T>
constexpr T kByZero = T(-1);

template <class T>
constexpr T divide(T a, T b) {
  if (b == 0) return kByZero<T>;
  if (std::is_signed_v<T> && b == T(-1)) return wrap_sub(T(0), a);
  return T(a / b);
}
template <class T>
constexpr T remainder(T a, T b) {
  if (b == 0) return kByZero<T>;
  if (std::is_signed_v<T> && b == T(-1)) return 0;
  return T(a % b);
}

// A 32-bit quotient through doubles, which vectorise: |a| * 2^-53 < 1, so rounding never reaches
// the next integer. Divisors 0, 1 and -1, whose quotients may not fit an int32, are replaced and
// answered apart.
template <class T>
inline void quotients32(const T* a, const T* b, T* q) {
  const auto trivial = [](T y) {
    return uint32_t(y) + 1u <= 2u;
  };                                // -1 (2^32 - 1 when unsigned), 0 and 1
  const auto to_double = [](T x) {  // of int32, which vectorises
    return std::is_signed_v<T> ? double(int32_t(x))
                               : double(int32_t(uint32_t(x) ^ 0x80000000u)) + 2147483648.0;
  };
  T divided[kWarpSize];
  double divisor[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) divisor[i] = to_double(trivial(b[i]) ? T(2) : b[i]);
  for (int i = 0; i < kWarpSize; ++i) divided[i] = T(int32_t(to_double(a[i]) / divisor[i]));
#pragma GCC ivdep
  for (int i = 0; i < kWarpSize; ++i) {
    const T x = a[i], y = b[i], z = divided[i];
    const T by_last = std::is_signed_v<T> ? T(0u - uint32_t(x)) : T(uint32_t(x) == 0xffffffffu);
    const T easy = y == T(0) ? kByZero<T> : y == T(1) ? x : by_last;
    q[i] = trivial(y) ? easy : z;
  }
}

template <class T, bool Full>
const Inst* div_handler(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  const T* b = w.src<T>(inst->b);
  T* d = w.reg<T>(inst->d);
  if constexpr (sizeof(T) == 4) {
    T q[kWarpSize];
    quotients32(a, b, q);
    each_lane<Full>(d, w.mask, [&](int i) { return q[i]; });
  } else {
    each_active(Full ? kAllLanes : w.mask, [&](int i) { d[i] = divide(a[i], b[i]); });
  }
  return inst + 1;
}
template <class T, bool Full>
const Inst* rem_handler(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  const T* b = w.src<T>(inst->b);
  T* d = w.reg<T>(inst->d);
  if constexpr (sizeof(T) == 4) {
    T q[kWarpSize];
    quotients32(a, b, q);
    each_lane<Full>(d, w.mask, [&](int i) {
      return b[i] == T(0) ? kByZero<T> : wrap_sub(a[i], wrap_mul(q[i], b[i]));
    });
  } else {
    each_active(Full ? kAllLanes : w.mask, [&](int i) { d[i] = remainder(a[i], b[i]); });
  }
  return inst + 1;
}
Handlers select_div(const Form& form) {
  return detail::Pick<Int>::of(form.type(), []<Type K>() -> Handlers {
    return {div_handler<LaneT<K>, true>, div_handler<LaneT<K>, false>};
  });
}
Handlers select_rem(const Form& form) {
  return detail::Pick<Int>::of(form.type(), []<Type K>() -> Handlers {
    return {rem_handler<LaneT<K>, true>, rem_handler<LaneT<K>, false>};
  });
}

// --- packed pairs of 16 bits ---

// T is the type of a half.
template <class T, auto Op>
constexpr auto halves = [](uint32_t a, uint32_t b) {
  const T lo = Op(T(a), T(b));
  const T hi = Op(T(a >> 16), T(b >> 16));
  return uint32_t(uint16_t(lo)) | uint32_t(uint16_t(hi)) << 16;
};

template <auto Op>
Handlers packed(const Form& form) {
  if (form.type() == Type::s16x2) return lane<TypeSet<Type::s16x2>, halves<int16_t, Op>>(form);
  return lane<TypeSet<Type::u16x2>, halves<uint16_t, Op>>(form);
}

constexpr auto add = [](auto a, auto b) { return wrap_add(a, b); };
constexpr auto sub = [](auto a, auto b) { return wrap_sub(a, b); };
constexpr auto min = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto max = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto min_relu = []<class T>(T a, T b) { return max(min(a, b), T(0)); };
constexpr auto max_relu = []<class T>(T a, T b) { return max(max(a, b), T(0)); };
constexpr auto add_sat = [](auto a, auto b) { return clamp32(int64_t(a) + b); };
constexpr auto sub_sat = [](auto a, auto b) { return clamp32(int64_t(a) - b); };
constexpr auto neg = []<class T>(T a) { return wrap_sub(T(0), a); };
constexpr auto abs = []<class T>(T a) { return a < 0 ? wrap_sub(T(0), a) : a; };
constexpr auto mad_hi_sat = [](auto a, auto b, auto c) {
  return clamp32(int64_t(mul_hi(a, b)) + c);
};
constexpr auto mad24_hi_sat = [](auto a, auto b, auto c) {
  return clamp32(int64_t(product24<Part::hi>(a, b)) + c);
};
constexpr auto sad = []<class T>(T a, T b, T c) {
  return wrap_add(c, a < b ? wrap_sub(b, a) : wrap_sub(a, b));
};

using S32 = TypeSet<Type::s32>;
using S16x2 = TypeSet<Type::s16x2>;

constexpr InstrDef kRows[] = {
    {"add[%int]", "d,a,b", Unit::alu, kRegs, lane<Int, add>},
    {"add[sat][s32]", "d,a,b", Unit::alu, kRegs, lane<S32, add_sat>},
    {"add[u16x2|s16x2]", "d,a,b", Unit::alu, kRegs, packed<add>},
    {"sub[%int]", "d,a,b", Unit::alu, kRegs, lane<Int, sub>},
    {"sub[sat][s32]", "d,a,b", Unit::alu, kRegs, lane<S32, sub_sat>},
    {"mul[lo][%int]", "d,a,b", Unit::fma, kRegs, lane<Int, product<Part::lo>>},
    {"mul[hi][%int]", "d,a,b", Unit::fma, kRegs, lane<Int, product<Part::hi>>},
    {"mul[wide][%int16_32]", "d:w,a,b", Unit::fma, kRegs, select_mul_wide},
    {"mul24[lo][%int32]", "d,a,b", Unit::fma, kRegs, lane<Int32, product24<Part::lo>>},
    {"mul24[hi][%int32]", "d,a,b", Unit::fma, kRegs, lane<Int32, product24<Part::hi>>},
    {"mad[lo][%int]", "d,a,b,c", Unit::fma, kRegs, lane<Int, product_sum<Part::lo>>},
    {"mad[hi][%int]", "d,a,b,c", Unit::fma, kRegs, lane<Int, product_sum<Part::hi>>},
    {"mad[hi][sat][s32]", "d,a,b,c", Unit::fma, kRegs, lane<S32, mad_hi_sat>},
    {"mad[wide][%int16_32]", "d:w,a,b,c:w", Unit::fma, kRegs, select_mad_wide},
    {"mad24[lo][%int32]", "d,a,b,c", Unit::fma, kRegs, lane<Int32, product24_sum<Part::lo>>},
    {"mad24[hi][%int32]", "d,a,b,c", Unit::fma, kRegs, lane<Int32, product24_sum<Part::hi>>},
    {"mad24[hi][sat][s32]", "d,a,b,c", Unit::fma, kRegs, lane<S32, mad24_hi_sat>},
    {"sad[%int]", "d,a,b,c", Unit::alu, kRegs, lane<Int, sad>},
    {"div[%int]", "d,a,b", Unit::alu, kRegs, select_div},
    {"rem[%int]", "d,a,b", Unit::alu, kRegs, select_rem},
    {"abs[%signed]", "d,a", Unit::alu, kRegs, lane<Signed, abs>},
    {"neg[%signed]", "d,a", Unit::alu, kRegs, lane<Signed, neg>},
    {"min[%int]", "d,a,b", Unit::alu, kRegs, lane<Int, min>},
    {"min[relu][s32]", "d,a,b", Unit::alu, kRegs, lane<S32, min_relu>},
    {"min[u16x2|s16x2]", "d,a,b", Unit::alu, kRegs, packed<min>},
    {"min[relu][s16x2]", "d,a,b", Unit::alu, kRegs, lane<S16x2, halves<int16_t, min_relu>>},
    {"max[%int]", "d,a,b", Unit::alu, kRegs, lane<Int, max>},
    {"max[relu][s32]", "d,a,b", Unit::alu, kRegs, lane<S32, max_relu>},
    {"max[u16x2|s16x2]", "d,a,b", Unit::alu, kRegs, packed<max>},
    {"max[relu][s16x2]", "d,a,b", Unit::alu, kRegs, lane<S16x2, halves<int16_t, max_relu>>},
};

}  // namespace

std::span<const InstrDef> integer_rows() { return kRows; }

}  // namespace ridge::vm
