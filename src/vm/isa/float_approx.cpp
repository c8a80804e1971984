// The approximate functions: ex2, lg2, sin, cos, tanh, rsqrt, and the coarse f64 starting values of Newton iterations.
//
// PTX bounds their error instead of defining their bits. Polynomials here are Chebyshev interpolants, evaluated in f32
// where that is accurate enough (ex2: under 1 ulp) and in f64 elsewhere, so that results are as good as rounded ones.
// The loops have no branches: the compiler makes vectors of them.
#include <bit>
#include <cmath>
#include <cstdint>

#include "vm/isa/float.h"
#include "vm/isa/groups.h"
#include "vm/isa/half.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

// a * b + c, fused where that costs nothing.
template <class T>
inline T multiply_add(T a, T b, T c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}
template <class T, size_t N>
inline T polynomial(const T (&coefficient)[N], T x) {
  T sum = coefficient[N - 1];
  for (size_t k = N - 1; k-- > 0;) sum = multiply_add(sum, x, coefficient[k]);
  return sum;
}

// Adding it rounds a small number to an integer, whose bits are then the sum's low bits.
inline constexpr float kRounder32 = 0x1.8p23f;
inline constexpr double kRounder64 = 0x1.8p52;

inline float power_of_two(int32_t n) { return float_of(uint32_t(n + 127) << 23); }

inline float exp2_lane(float x) {
  constexpr float kSeries[] = {0x1.62e43p-1f,   0x1.ebfbep-3f,   0x1.c6af6cp-5f,  // (2^f - 1) / f
                               0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f};
  const float low = x > -160.0f ? x : -160.0f;  // NaN too
  const float bounded = low < 130.0f ? low : 130.0f;
  const float shifted = bounded + kRounder32;
  const float f = bounded - (shifted - kRounder32);
  const int32_t n = int32_t(bits_of(shifted)) - int32_t(bits_of(kRounder32));
  const float mantissa = multiply_add(f, polynomial(kSeries, f), 1.0f);
  const int32_t part = n >> 1;  // in two steps: 2^n alone may be subnormal or infinite
  const float r = mantissa * power_of_two(part) * power_of_two(n - part);
  return x == x ? r : float_of(kNan32);
}

inline float log2_lane(float x) {
  constexpr double kSeries[] = {0x1.71547652b8250p+1, 0x1.ec709dc53e5b7p-1, 0x1.2776c2906b728p-1,  // log2(m) / s
                                0x1.a61a3171a430cp-2, 0x1.4794d984b97a8p-2, 0x1.21b8ad9ff3e29p-2};
  const bool subnormal = x < 0x1p-126f;
  const uint32_t bits = bits_of(subnormal ? x * 0x1p24f : x);
  const uint32_t offset = bits - 0x3f3504f3u;  // of sqrt(1/2): m is in [sqrt(1/2), sqrt(2))
  const int32_t exponent = int32_t(offset) >> 23;
  const double m = float_of(bits - (uint32_t(exponent) << 23));
  const double s = (m - 1) / (m + 1);
  const double log = s * polynomial(kSeries, s * s) + double(exponent - (subnormal ? 24 : 0));
  float r = float(log);
  r = x == 0.0f ? -HUGE_VALF : r;
  r = x == HUGE_VALF ? HUGE_VALF : r;
  return x >= 0.0f ? r : float_of(kNan32);
}

// sin(x + quarters * pi/2). Good up to kSineLimit; the caller does the rest.
inline constexpr float kSineLimit = 0x1p20f;
inline float sine_lane(float x, int quarters) {
  constexpr double kSine[] = {0x1.fffffffff6793p-1, -0x1.5555554945120p-3, 0x1.111107496164dp-7,
                              -0x1.a00ee6861ac47p-13, 0x1.6cb6f7fb271a2p-19};
  constexpr double kCosine[] = {0x1.ffffffffffe0bp-1,  -0x1.ffffffffe36d6p-2, 0x1.5555554472131p-5,
                                -0x1.6c16b2d12fa87p-10, 0x1.a00e951c119bdp-16, -0x1.23c5802d12bc8p-22};
  const double bounded = std::fabs(x) <= kSineLimit ? double(x) : 0.0;
  const double shifted = bounded * 0x1.45f306dc9c883p-1 + kRounder64;
  const double k = shifted - kRounder64;
  const double r = multiply_add(-k, 0x1.1a62633145c07p-54, multiply_add(-k, 0x1.921fb54442d18p+0, bounded));
  const uint64_t quadrant = bits_of(shifted) + uint64_t(quarters);
  const double z = r * r;
  const double value = quadrant & 1 ? polynomial(kCosine, z) : r * polynomial(kSine, z);
  return float(double_of(bits_of(value) ^ (quadrant & 2) << 62));
}

inline float tanh_lane(float x) {
  constexpr double kExp2[] = {0x1.0000000000000p+0, 0x1.62e42fef84cf0p-1,  0x1.ebfbdff823cedp-3,
                              0x1.c6b08dd6fd234p-5, 0x1.3b2ab7181b755p-7,  0x1.5d8745a728441p-10,
                              0x1.4308ac85aa947p-13, 0x1.00dc4a532fb8ep-16, 0x1.63d136366db24p-20};
  const float magnitude = std::fabs(x) < 16.0f ? std::fabs(x) : 16.0f;  // 1 to all bits from 9.02 on
  const double y = double(magnitude) * 0x1.71547652b82fep+1;             // e^2x = 2^y
  const double shifted = y + kRounder64;
  const double mantissa = polynomial(kExp2, y - (shifted - kRounder64));
  const double e = double_of(bits_of(mantissa) + (bits_of(shifted) << 52));
  const float r = magnitude < 0x1p-12f ? magnitude : float((e - 1) / (e + 1));
  return x == x ? std::copysign(r, x) : float_of(kNan32);
}

inline float rsqrt_lane(float x) { return canonical(1.0f / std::sqrt(x)); }

template <auto F, bool Ftz, bool Full>
const Inst* unary(Warp& w, const Inst* inst) {
  const float* a = w.src<float>(inst->a);
  each_lane<Full>(w.reg<float>(inst->d), w.mask, [&](int i) {
    const float r = F(Ftz ? flush(a[i]) : a[i]);
    return Ftz ? flush(r) : r;
  });
  return inst + 1;
}
template <auto F>
Handlers approximation(const Form& form) {
  if (form.has("ftz")) return {unary<F, true, true>, unary<F, true, false>};
  return {unary<F, false, true>, unary<F, false, false>};
}

template <int Quarters, bool Ftz>
const Inst* sine(Warp& w, const Inst* inst) {
  const float* a = w.src<float>(inst->a);
  alignas(32) float x[kWarpSize], r[kWarpSize];
  uint32_t odd = 0;  // too large, infinite or NaN
  for (int i = 0; i < kWarpSize; ++i) {
    x[i] = Ftz ? flush(a[i]) : a[i];
    r[i] = sine_lane(x[i], Quarters);
  }
  for (int i = 0; i < kWarpSize; ++i) odd |= uint32_t(!(std::fabs(x[i]) <= kSineLimit)) << i;
  each_active(odd & w.mask, [&](int i) {
    r[i] = canonical(float(Quarters == 0 ? std::sin(double(x[i])) : std::cos(double(x[i]))));
  });
  if constexpr (Quarters == 0)  // a zero keeps its sign
    for (int i = 0; i < kWarpSize; ++i) r[i] = x[i] == 0.0f ? x[i] : r[i];
  each_lane<false>(w.reg<float>(inst->d), w.mask, [&](int i) { return Ftz ? flush(r[i]) : r[i]; });
  return inst + 1;
}
template <int Quarters>
Handlers trigonometry(const Form& form) {
  const Handler h = form.has("ftz") ? sine<Quarters, true> : sine<Quarters, false>;
  return {h, h};
}

// Halves: the f32 function, rounded.
template <Type K, auto F, bool Ftz, int N>
const Inst* half_unary(Warp& w, const Inst* inst) {
  alignas(32) float x[N], r[N];
  alignas(32) uint16_t out[N];
  widen<K, N>(w.src<uint16_t>(inst->a), x);
  for (int i = 0; i < N; ++i) {
    const float y = F(Ftz ? flush(x[i]) : x[i]);
    r[i] = Ftz ? flush(y) : y;
  }
  narrow<K, N>(r, out);
  store_halves<N>(w, inst->d, out);
  return inst + 1;
}
template <auto F>
Handlers half_approximation(const Form& form) {
  Handler h = nullptr;
  switch (form.type()) {
    case Type::f16: h = half_unary<Type::f16, F, false, kWarpSize>; break;
    case Type::f16x2: h = half_unary<Type::f16, F, false, 2 * kWarpSize>; break;
    case Type::bf16: h = form.has("ftz") ? half_unary<Type::bf16, F, true, kWarpSize>
                                         : half_unary<Type::bf16, F, false, kWarpSize>; break;
    case Type::bf16x2: h = form.has("ftz") ? half_unary<Type::bf16, F, true, 2 * kWarpSize>
                                           : half_unary<Type::bf16, F, false, 2 * kWarpSize>; break;
    default: break;
  }
  return {h, h};
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
Handlers only(const Form&) { return {H, H}; }

constexpr InstrDef kRows[] = {
    {"ex2[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, approximation<exp2_lane>},
    {"ex2[approx][f16|f16x2]", "d,a", Unit::sfu, kRegs, half_approximation<exp2_lane>},
    {"ex2[approx][ftz][bf16|bf16x2]", "d,a", Unit::sfu, kRegs, half_approximation<exp2_lane>},
    {"lg2[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, approximation<log2_lane>},
    {"sin[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, trigonometry<0>},
    {"cos[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, trigonometry<1>},
    {"tanh[approx][f32]", "d,a", Unit::sfu, kRegs, approximation<tanh_lane>},
    {"tanh[approx][f16|f16x2|bf16|bf16x2]", "d,a", Unit::sfu, kRegs, half_approximation<tanh_lane>},
    {"rsqrt[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, approximation<rsqrt_lane>},
    {"rsqrt[approx][f64]", "d,a", Unit::fp64, kRegs, only<rsqrt_f64>},
    {"rsqrt[approx][ftz][f64]", "d,a", Unit::sfu, kRegs, only<coarse_reciprocal<true>>},
    {"rcp[approx][ftz][f64]", "d,a", Unit::sfu, kRegs, only<coarse_reciprocal<false>>},
};

}  // namespace

std::span<const InstrDef> float_approx_rows() { return kRows; }

}  // namespace ridge::vm
