// The approximate functions: ex2, lg2, sin, cos, tanh, rsqrt, and the coarse f64 starting values of
// Newton iterations.
//
// PTX bounds their error instead of defining their bits. Polynomials here are Chebyshev
// interpolants, evaluated in f32 where that is accurate enough (ex2: under 1 ulp) and in f64
// elsewhere, so that results are as good as rounded ones.
#include <cmath>
#include <cstdint>

#include "vm/isa/float.h"
#include "vm/isa/float_vector.h"
#include "vm/isa/groups.h"
#include "vm/isa/half.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

// Horner's rule.
template <size_t K = 0, class V, class T, size_t N>
[[gnu::always_inline]] inline V polynomial(const T (&coefficient)[N], const V& x) {
  if constexpr (K + 1 == N) return V{} + coefficient[K];
  else return multiply_add(polynomial<K + 1>(coefficient, x), x, V{} + coefficient[K]);
}

// Adding it rounds a small number to an integer, whose bits are then the sum's low bits.
inline constexpr float kRounder32 = 0x1.8p23f;
inline constexpr double kRounder64 = 0x1.8p52;

inline F8 nan_where(I8 condition, F8 otherwise) {
  return as<F8>(condition ? I8{} + int32_t(kNan32) : as<I8>(otherwise));
}
inline F8 magnitude_of(F8 x) { return as<F8>(as<I8>(x) & 0x7fffffff); }
inline F8 power_of_two(I8 n) { return as<F8>((n + 127) << 23); }
inline F4 narrowed(D4 x) { return __builtin_convertvector(x, F4); }

struct Exp2 {
  static F8 of(F8 x) {
    constexpr float kSeries[] = {0x1.62e43p-1f,  0x1.ebfbep-3f,  0x1.c6af6cp-5f,  // (2^f - 1) / f
                                 0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f};
    const F8 low = x > -160.0f ? x : F8{} - 160.0f;  // NaN too
    const F8 bounded = low < 130.0f ? low : F8{} + 130.0f;
    const F8 shifted = bounded + kRounder32;
    const F8 f = bounded - (shifted - kRounder32);
    const I8 n = as<I8>(shifted) - as<I8>(F8{} + kRounder32);
    const F8 mantissa = multiply_add(f, polynomial(kSeries, f), F8{} + 1.0f);
    const I8 part = n >> 1;  // in two steps: 2^n alone may be subnormal or infinite
    return nan_where(x != x, mantissa * power_of_two(part) * power_of_two(n - part));
  }
};

struct Log2 {
  static F8 of(F8 x) {
    constexpr double kSeries[] = {
        0x1.71547652b8250p+1, 0x1.ec709dc53e5b7p-1, 0x1.2776c2906b728p-1,  // log2(m) / s
        0x1.a61a3171a430cp-2, 0x1.4794d984b97a8p-2, 0x1.21b8ad9ff3e29p-2};
    const I8 subnormal = x < 0x1p-126f;
    const U8 bits = as<U8>(subnormal ? x * 0x1p24f : x);
    // From sqrt(1/2): m is in [sqrt(1/2), sqrt(2)).
    const I8 exponent = I8(bits - 0x3f3504f3u) >> 23;
    const F8 log = in_double(
        [&](D4 m, D4 e) {
          const D4 s = (m - 1) / (m + 1);
          return narrowed(s * polynomial(kSeries, s * s) + e);
        },
        as<F8>(bits - (U8(exponent) << 23)), exponent + 24 * subnormal);
    F8 r = x == 0.0f ? F8{} - HUGE_VALF : log;
    r = x == HUGE_VALF ? F8{} + HUGE_VALF : r;
    return nan_where(~(x >= 0.0f), r);
  }
};

// sin(x + Quarters * pi/2) up to kSineLimit; the caller does the rest.
inline constexpr float kSineLimit = 0x1p20f;
template <int Quarters>
inline F8 sine_of(F8 x) {
  constexpr double kSine[] = {0x1.fffffffff6793p-1, -0x1.5555554945120p-3, 0x1.111107496164dp-7,
                              -0x1.a00ee6861ac47p-13, 0x1.6cb6f7fb271a2p-19};
  constexpr double kCosine[] = {0x1.ffffffffffe0bp-1,  -0x1.ffffffffe36d6p-2,
                                0x1.5555554472131p-5,  -0x1.6c16b2d12fa87p-10,
                                0x1.a00e951c119bdp-16, -0x1.23c5802d12bc8p-22};
  const F8 bounded = magnitude_of(x) <= kSineLimit ? x : F8{};
  return in_double(
      [&](D4 angle) {
        const D4 shifted = angle * 0x1.45f306dc9c883p-1 + kRounder64;  // 2 / pi
        const D4 r = angle - (shifted - kRounder64) * 0x1.921fb54442d18p+0;
        const L4 quadrant = as<L4>(shifted) + Quarters;
        const D4 z = r * r;
        const D4 value = (quadrant & 1) != 0 ? polynomial(kCosine, z) : r * polynomial(kSine, z);
        return narrowed(as<D4>(as<L4>(value) ^ (quadrant & 2) << 62));
      },
      bounded);
}

struct Tanh {
  static F8 of(F8 x) {
    constexpr double kExp2[] = {
        0x1.0000000000000p+0,  0x1.62e42fef84cf0p-1,  0x1.ebfbdff823cedp-3,
        0x1.c6b08dd6fd234p-5,  0x1.3b2ab7181b755p-7,  0x1.5d8745a728441p-10,
        0x1.4308ac85aa947p-13, 0x1.00dc4a532fb8ep-16, 0x1.63d136366db24p-20};
    const F8 size = magnitude_of(x);
    const F8 bounded = size < 16.0f ? size : F8{} + 16.0f;  // 1 to all bits from 9.02 on
    const F8 large = in_double(
        [&](D4 h) {
          const D4 y = h * 0x1.71547652b82fep+1;  // e^2h = 2^y
          const D4 shifted = y + kRounder64;
          const D4 mantissa = polynomial(kExp2, y - (shifted - kRounder64));
          const D4 e = as<D4>(as<UL4>(mantissa) + (as<UL4>(shifted) << 52));
          return narrowed((e - 1) / (e + 1));
        },
        bounded);
    const F8 r = bounded < 0x1p-12f ? bounded : large;
    return nan_where(x != x, as<F8>(as<I8>(r) | (as<I8>(x) & INT32_MIN)));
  }
};

struct Rsqrt {
  static F8 of(F8 x) {
    const F8 r = 1.0f / square_root(x);
    return nan_where(r != r, r);
  }
};

template <class Op, bool Ftz, bool Full>
const Inst* unary(Warp& w, const Inst* inst) {
  const float* a = w.src<float>(inst->a);
  float* d = w.reg<float>(inst->d);
  for (int i = 0; i < kWarpSize; i += 8) {
    if (!Full && !(w.mask >> i & 0xff)) continue;
    const F8 x = load<F8>(a + i);
    const F8 y = Op::of(Ftz ? flush(x) : x);
    const F8 r = Ftz ? flush(y) : y;
    store(d + i, Full ? r : lanes_of(w.mask >> i) ? r : load<F8>(d + i));
  }
  return inst + 1;
}
template <class Op>
Handlers approximation(const Form& form) {
  if (form.has("ftz")) return {unary<Op, true, true>, unary<Op, true, false>};
  return {unary<Op, false, true>, unary<Op, false, false>};
}

template <int Quarters, bool Ftz>
const Inst* sine(Warp& w, const Inst* inst) {
  const float* a = w.src<float>(inst->a);
  alignas(32) float x[kWarpSize], r[kWarpSize];
  I8 outside = {};  // too large, infinite or NaN
  for (int i = 0; i < kWarpSize; i += 8) {
    if (!(w.mask >> i & 0xff)) continue;
    const F8 given = load<F8>(a + i), angle = Ftz ? flush(given) : given;
    const F8 value = sine_of<Quarters>(angle);
    outside |= ~(magnitude_of(angle) <= kSineLimit);
    store(x + i, angle);
    store(r + i, Quarters == 0 ? (angle == 0.0f ? angle : value) : value);  // a zero keeps its sign
  }
  bool any = false;
  for (int i = 0; i < 8; ++i) any |= outside[i] != 0;
  if (any)
    each_active(w.mask, [&](int i) {
      if (!(std::fabs(x[i]) <= kSineLimit))
        r[i] = canonical(float(Quarters == 0 ? std::sin(double(x[i])) : std::cos(double(x[i]))));
    });
  each_lane<false>(w.reg<float>(inst->d), w.mask, [&](int i) { return Ftz ? flush(r[i]) : r[i]; });
  return inst + 1;
}
template <int Quarters>
Handlers trigonometry(const Form& form) {
  const Handler h = form.has("ftz") ? sine<Quarters, true> : sine<Quarters, false>;
  return {h, h};
}

// Halves: the f32 function, rounded.
template <Type K, class Op, bool Ftz, int N>
const Inst* half_unary(Warp& w, const Inst* inst) {
  alignas(32) float x[N];
  alignas(32) uint16_t out[N];
  widen<K, N>(w.src<uint16_t>(inst->a), x);
  for (int i = 0; i < N; i += 8) {
    const F8 given = load<F8>(x + i), y = Op::of(Ftz ? flush(given) : given);
    store(x + i, Ftz ? flush(y) : y);
  }
  narrow<K, N>(x, out);
  store_halves<N>(w, inst->d, out);
  return inst + 1;
}
template <class Op>
Handlers half_approximation(const Form& form) {
  const auto with = [&]<Type K, int N>() -> Handlers {
    const Handler h = form.has("ftz") ? half_unary<K, Op, true, N> : half_unary<K, Op, false, N>;
    return {h, h};
  };
  return for_halves(form, with);
}

// The f64 approximations see and give the upper 32 bits; the lower are ignored and zero.
inline constexpr uint64_t kUpper = 0xffffffff00000000ull;
inline constexpr uint64_t kNanUpper = 0x7fffffff00000000ull;
inline double flush_upper(double x) {
  const uint64_t bits = bits_of(x);
  return double_of(bits & 0x7ff0000000000000ull ? bits & kUpper : bits & 0x8000000000000000ull);
}
template <bool RootToo>
const Inst* coarse_reciprocal(Warp& w, const Inst* inst) {
  const double* a = w.src<double>(inst->a);
  each_lane<false>(w.reg<double>(inst->d), w.mask, [&](int i) {
    const double x = flush_upper(a[i]);
    const double r = 1 / (RootToo ? std::sqrt(x) : x);
    return r == r ? flush_upper(r) : double_of(kNanUpper);
  });
  return inst + 1;
}
const Inst* rsqrt_f64(Warp& w, const Inst* inst) {
  const double* a = w.src<double>(inst->a);
  each_lane<false>(w.reg<double>(inst->d), w.mask, [&](int i) { return 1 / std::sqrt(a[i]); });
  return inst + 1;
}
template <Handler H>
Handlers only(const Form&) {
  return {H, H};
}

constexpr InstrDef kRows[] = {
    {"ex2[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, approximation<Exp2>},
    {"ex2[approx][f16|f16x2]", "d,a", Unit::sfu, kRegs, half_approximation<Exp2>},
    {"ex2[approx][ftz][bf16|bf16x2]", "d,a", Unit::sfu, kRegs, half_approximation<Exp2>},
    {"lg2[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, approximation<Log2>},
    {"sin[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, trigonometry<0>},
    {"cos[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, trigonometry<1>},
    {"tanh[approx][f32]", "d,a", Unit::sfu, kRegs, approximation<Tanh>},
    {"tanh[approx][f16|f16x2|bf16|bf16x2]", "d,a", Unit::sfu, kRegs, half_approximation<Tanh>},
    {"rsqrt[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, approximation<Rsqrt>},
    {"rsqrt[approx][f64]", "d,a", Unit::fp64, kRegs, only<rsqrt_f64>},
    {"rsqrt[approx][ftz][f64]", "d,a", Unit::sfu, kRegs, only<coarse_reciprocal<true>>},
    {"rcp[approx][ftz][f64]", "d,a", Unit::sfu, kRegs, only<coarse_reciprocal<false>>},
};

}  // namespace

std::span<const InstrDef> float_approx_rows() { return kRows; }

}  // namespace ridge::vm
