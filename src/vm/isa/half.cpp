// Arithmetic of f16 and bf16, scalar and packed: a packed register is 64 halves side by side, so both run the same loops.
//
// One rounding: sums and products of halves are computed in f32, whose 24 bits are enough for the second rounding to do
// no harm (24 >= 2 * 11 + 2), and f16 products are exact. fma is not so lucky: its sum is rounded to odd, which keeps
// the bits the final rounding has to see.
#include "vm/isa/half.h"

#include "vm/isa/groups.h"

namespace ridge::vm {
namespace {

enum HalfFlags : uint32_t { kHalfFtz = 1, kHalfSat = 2, kHalfRelu = 4, kHalfNan = 8, kHalfXorSign = 16 };
uint32_t half_flags(const Form& form) {
  return (form.has("ftz") ? kHalfFtz : 0u) | (form.has("sat") ? kHalfSat : 0u) | (form.has("relu") ? kHalfRelu : 0u) |
         (form.has("NaN") ? kHalfNan : 0u) | (form.has("xorsign") ? kHalfXorSign : 0u);
}

// The neighbour of `rounded` with an odd last bit, where the exact value lies off by `error`.
template <class Error>
inline float to_odd(float rounded, Error error) {
  const uint32_t bits = bits_of(rounded);
  const bool inexact = (error > 0) | (error < 0);
  const bool away = (error > 0) == !(bits >> 31);
  return float_of(inexact & !(bits & 1) ? (away ? bits + 1 : bits - 1) : bits);
}
inline double to_odd(double rounded, double error) {
  const uint64_t bits = bits_of(rounded);
  const bool inexact = (error > 0) | (error < 0);
  const bool away = (error > 0) == !(bits >> 63);
  return double_of(inexact & !(bits & 1) ? (away ? bits + 1 : bits - 1) : bits);
}
// p + c rounded to odd; the error of a rounded sum is itself a number (Knuth's two-sum).
template <class T>
inline T add_to_odd(T p, T c) {
  const T s = p + c, back = s - p;
  return to_odd(s, (p - (s - back)) + (c - back));
}

struct HalfAdd {
  static constexpr int kArity = 2;
  template <Type>
  static float of(float a, float b, float) { return a + b; }
};
struct HalfSubtract {
  static constexpr int kArity = 2;
  template <Type>
  static float of(float a, float b, float) { return a - b; }
};
struct HalfMultiply {
  static constexpr int kArity = 2;
  template <Type>
  static float of(float a, float b, float) { return a * b; }
};
struct HalfFused {
  static constexpr int kArity = 3;
  template <Type K>
  static float of(float a, float b, float c) {
    if constexpr (K == Type::f16) {
      return add_to_odd(a * b, c);  // the product has 22 bits
    } else {  // bf16's exponents need f64: the product is exact there, and its sum too wide by far for f32
      const double sum = add_to_odd(double(a) * double(b), double(c));
      const float nearest = float(sum);
      return to_odd(nearest, sum - double(nearest));
    }
  }
};

// Before rounding to 11 bits, what is below becomes a zero: smaller than every value that rounds to the least normal.
inline constexpr float kFlushBelow = 0x1p-14f * (1 - 0x1p-12f);

inline float flush_half(float x) { return std::fabs(x) < 0x1p-14f ? std::copysign(0.0f, x) : x; }

template <Type K, class Op, int N, bool Plain>
const Inst* half_arithmetic(Warp& w, const Inst* inst) {
  const uint32_t flags = Plain ? 0 : wide(inst).flags;
  alignas(32) float a[N], b[N], c[N], r[N];
  alignas(32) uint16_t out[N];
  widen<K, N>(w.src<uint16_t>(inst->a), a);
  widen<K, N>(w.src<uint16_t>(inst->b), b);
  if constexpr (Op::kArity > 2) widen<K, N>(w.src<uint16_t>(inst->c), c);
  if (flags & kHalfFtz)
    for (int i = 0; i < N; ++i) {
      a[i] = flush_half(a[i]);
      b[i] = flush_half(b[i]);
      if constexpr (Op::kArity > 2) c[i] = flush_half(c[i]);
    }
  for (int i = 0; i < N; ++i) r[i] = Op::template of<K>(a[i], b[i], Op::kArity > 2 ? c[i] : 0.0f);
  if (flags & kHalfFtz)
    for (int i = 0; i < N; ++i) r[i] = std::fabs(r[i]) < kFlushBelow ? std::copysign(0.0f, r[i]) : r[i];
  if (flags & kHalfSat)
    for (int i = 0; i < N; ++i) r[i] = saturate(r[i]);
  if (flags & kHalfRelu)
    for (int i = 0; i < N; ++i) r[i] = r[i] <= 0.0f ? 0.0f : r[i];
  narrow<K, N>(r, out);
  store_halves<N>(w, inst->d, out);
  return inst + (Plain ? 1 : 2);
}

// Comparison, sign and magnitude work on the bits.
template <Type K>
struct HalfBits {
  static constexpr uint16_t kInfinity = K == Type::f16 ? 0x7c00 : 0x7f80;
  static constexpr uint16_t kLeastNormal = K == Type::f16 ? 0x0400 : 0x0080;
  static bool is_nan(uint16_t x) { return (x & 0x7fff) > kInfinity; }
  static uint16_t flush(uint16_t x) { return (x & 0x7fff) < kLeastNormal ? x & 0x8000 : x; }
  // Signed integers in the order of the numbers, -0 below +0.
  static int16_t order(uint16_t x) { return int16_t(x & 0x8000 ? x ^ 0x7fff : x); }
};

template <Type K, bool Max, int N>
const Inst* half_minmax(Warp& w, const Inst* inst) {
  using Bits = HalfBits<K>;
  const uint32_t flags = wide(inst).flags;
  const bool ftz = flags & kHalfFtz, nan = flags & kHalfNan, xorsign = flags & kHalfXorSign;
  const uint16_t *pa = w.src<uint16_t>(inst->a), *pb = w.src<uint16_t>(inst->b);
  alignas(32) uint16_t out[N];
  for (int i = 0; i < N; ++i) {
    uint16_t a = pa[i], b = pb[i];
    if (ftz) a = Bits::flush(a), b = Bits::flush(b);
    const uint16_t sign = (a ^ b) & 0x8000;
    if (xorsign) a &= 0x7fff, b &= 0x7fff;
    const bool a_nan = Bits::is_nan(a), b_nan = Bits::is_nan(b);
    const bool take_a = b_nan | (!a_nan & (Max ? Bits::order(a) > Bits::order(b) : Bits::order(a) < Bits::order(b)));
    uint16_t r = take_a ? a : b;
    if (xorsign) r |= sign;
    const bool bad = nan ? a_nan | b_nan : a_nan & b_nan;
    out[i] = bad ? kNan16 : r;
  }
  store_halves<N>(w, inst->d, out);
  return inst + 2;
}

template <Type K, bool Negate, int N>
const Inst* half_sign(Warp& w, const Inst* inst) {
  using Bits = HalfBits<K>;
  const bool ftz = wide(inst).flags & kHalfFtz;
  const uint16_t* pa = w.src<uint16_t>(inst->a);
  alignas(32) uint16_t out[N];
  for (int i = 0; i < N; ++i) {
    const uint16_t a = ftz ? Bits::flush(pa[i]) : pa[i];
    const uint16_t r = Negate ? a ^ 0x8000 : a & 0x7fff;
    out[i] = Bits::is_nan(a) ? kNan16 : r;
  }
  store_halves<N>(w, inst->d, out);
  return inst + 2;
}

// make<K, N>() for the spelling's format and number of halves.
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

template <class Op>
Handlers arithmetic(const Form& form) {
  const uint32_t flags = half_flags(form);
  if (flags & kHalfSat && flags & kHalfRelu) return {};
  return for_halves(form, [&]<Type K, int N>() -> Handlers {
    if (flags == 0) return {half_arithmetic<K, Op, N, true>, half_arithmetic<K, Op, N, true>};
    return {half_arithmetic<K, Op, N, false>, half_arithmetic<K, Op, N, false>, true, flags};
  });
}
template <bool Max>
Handlers minmax(const Form& form) {
  if (form.has("xorsign") != form.has("abs")) return {};
  return for_halves(form, [&]<Type K, int N>() -> Handlers {
    return {half_minmax<K, Max, N>, half_minmax<K, Max, N>, true, half_flags(form)};
  });
}
template <bool Negate>
Handlers sign(const Form& form) {
  return for_halves(form, [&]<Type K, int N>() -> Handlers {
    return {half_sign<K, Negate, N>, half_sign<K, Negate, N>, true, half_flags(form)};
  });
}

constexpr InstrDef kRows[] = {
    {"add{rn}{ftz}{sat}[f16|f16x2]", "d,a,b", Unit::half, kRegs, arithmetic<HalfAdd>},
    {"add{rn}[bf16|bf16x2]", "d,a,b", Unit::half, kRegs, arithmetic<HalfAdd>},
    {"sub{rn}{ftz}{sat}[f16|f16x2]", "d,a,b", Unit::half, kRegs, arithmetic<HalfSubtract>},
    {"sub{rn}[bf16|bf16x2]", "d,a,b", Unit::half, kRegs, arithmetic<HalfSubtract>},
    {"mul{rn}{ftz}{sat}[f16|f16x2]", "d,a,b", Unit::half, kRegs, arithmetic<HalfMultiply>},
    {"mul{rn}[bf16|bf16x2]", "d,a,b", Unit::half, kRegs, arithmetic<HalfMultiply>},
    {"fma[rn]{ftz}{sat|relu}[f16|f16x2]", "d,a,b,c", Unit::half, kRegs, arithmetic<HalfFused>},
    {"fma[rn]{relu}[bf16|bf16x2]", "d,a,b,c", Unit::half, kRegs, arithmetic<HalfFused>},
    {"min{ftz}{NaN}{xorsign}{abs}[f16|f16x2]", "d,a,b", Unit::half, kRegs, minmax<false>},
    {"min{NaN}{xorsign}{abs}[bf16|bf16x2]", "d,a,b", Unit::half, kRegs, minmax<false>},
    {"max{ftz}{NaN}{xorsign}{abs}[f16|f16x2]", "d,a,b", Unit::half, kRegs, minmax<true>},
    {"max{NaN}{xorsign}{abs}[bf16|bf16x2]", "d,a,b", Unit::half, kRegs, minmax<true>},
    {"abs{ftz}[f16|f16x2]", "d,a", Unit::half, kRegs, sign<false>},
    {"abs[bf16|bf16x2]", "d,a", Unit::half, kRegs, sign<false>},
    {"neg{ftz}[f16|f16x2]", "d,a", Unit::half, kRegs, sign<true>},
    {"neg[bf16|bf16x2]", "d,a", Unit::half, kRegs, sign<true>},
};

}  // namespace

std::span<const InstrDef> half_rows() { return kRows; }

}  // namespace ridge::vm
