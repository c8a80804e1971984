// Arithmetic of f16 and bf16, scalar and packed: a packed register is 64 halves side by side, so
// both run the same loops.
//
// One rounding: sums and products of halves are computed in f32, whose 24 bits are enough for the
// second rounding to do no harm (24 >= 2 * 11 + 2), and f16 products are exact. fma is not so
// lucky: where it matters its sum is rounded to odd, which keeps the bits the final rounding has to
// see.
#include "vm/isa/half.h"

#include "vm/isa/groups.h"

namespace ridge::vm {
namespace {

enum HalfFlags : uint32_t {
  kHalfFtz = 1,
  kHalfSat = 2,
  kHalfRelu = 4,
  kHalfNan = 8,
  kHalfXorSign = 16,
  kHalfOob = 32
};
// What tensor copies put outside their tensor, with either sign: fma.oob makes a zero of a product
// with it. It is the same in f16 and bf16.
inline constexpr uint16_t kOobNan = 0x7ff7;
uint32_t half_flags(const Form& form) {
  return (form.has("ftz") ? kHalfFtz : 0u) | (form.has("sat") ? kHalfSat : 0u) |
         (form.has("relu") ? kHalfRelu : 0u) | (form.has("NaN") ? kHalfNan : 0u) |
         (form.has("xorsign") ? kHalfXorSign : 0u) | (form.has("oob") ? kHalfOob : 0u);
}

// The neighbour of `rounded` with an odd last bit, where the exact value lies off by `error`.
template <class Float, class Int>
[[gnu::always_inline]] inline Float to_odd(const Float& rounded, const Int& above,
                                           const Int& below) {
  const Int bits = as<Int>(rounded);
  const Int away = bits < 0 ? below : above;  // all ones: the exact value has the larger magnitude
  const Int odd = (above | below) & ~-(bits & 1);
  return as<Float>(bits + (odd & (away ? Int{} + 1 : Int{} - 1)));
}
// p + c rounded to odd; the error of a rounded sum is itself a number (Knuth's two-sum).
template <class Int, class Float>
[[gnu::always_inline]] inline Float add_to_odd(const Float& p, const Float& c) {
  const Float s = p + c, back = s - p, error = (p - (s - back)) + (c - back);
  return to_odd<Float, Int>(s, error > 0, error < 0);
}

[[gnu::always_inline]] inline I4 narrowed_mask(L4 mask) {
  return __builtin_shufflevector(as<I8>(mask), as<I8>(mask), 0, 2, 4, 6);
}

struct HalfAdd {
  static constexpr int kArity = 2;
  template <Type>
  static F8 of(F8 a, F8 b, F8) {
    return a + b;
  }
};
struct HalfSubtract {
  static constexpr int kArity = 2;
  template <Type>
  static F8 of(F8 a, F8 b, F8) {
    return a - b;
  }
};
struct HalfMultiply {
  static constexpr int kArity = 2;
  template <Type>
  static F8 of(F8 a, F8 b, F8) {
    return a * b;
  }
};
struct HalfFused {
  static constexpr int kArity = 3;
  template <Type K>
  static F8 of(F8 a, F8 b, F8 c) {
#ifdef __FMA__
    // Rounding twice goes wrong only where the first rounding lands on a tie of the second.
    const F8 sum = multiply_add(a, b, c);
    const I8 bits = as<I8>(sum), magnitude = bits & 0x7fffffff;
    const I8 doubtful =
        K == Type::bf16 ? (bits & 0xffff) == 0x8000
                        : ((bits & 0x1fff) == 0x1000) | I8(as<U8>(magnitude) - 1 < 0x38800000u - 1);
    if (_mm256_testz_si256(__m256i(doubtful), __m256i(doubtful))) return sum;
#endif
    return exactly<K>(a, b, c);
  }
  template <Type K>
  [[gnu::noinline]] static F8 exactly(const F8& a, const F8& b, const F8& c) {
    if constexpr (K == Type::f16) {
      return add_to_odd<I8, F8>(a * b, c);  // the product has 22 bits
    } else {                                // bf16's exponents need f64: the product is exact there
      return in_double(
          [](D4 x, D4 y, D4 z) {
            const D4 sum = add_to_odd<L4, D4>(x * y, z);
            const F4 nearest = __builtin_convertvector(sum, F4);
            const D4 error = sum - __builtin_convertvector(nearest, D4);
            return to_odd<F4, I4>(nearest, narrowed_mask(error > 0), narrowed_mask(error < 0));
          },
          a, b, c);
    }
  }
};

// Before rounding to 11 bits, what is below becomes a zero: smaller than every value that rounds to
// the least normal.
inline constexpr float kFlushBelow = 0x1p-14f * (1 - 0x1p-12f);

[[gnu::always_inline]] inline F8 zero_below(F8 x, float limit) {
  const I8 bits = as<I8>(x);
  return as<F8>(as<F8>(bits & 0x7fffffff) < limit ? bits & INT32_MIN : bits);
}

template <Type K, class Op, int N, bool Plain>
const Inst* half_arithmetic(Warp& w, const Inst* inst) {
  const uint32_t flags = Plain ? 0 : wide(inst).flags;
  alignas(32) float a[N], b[N], c[N];
  alignas(32) uint16_t out[N];
  widen<K, N>(w.src<uint16_t>(inst->a), a);
  widen<K, N>(w.src<uint16_t>(inst->b), b);
  if constexpr (Op::kArity > 2) widen<K, N>(w.src<uint16_t>(inst->c), c);
  for (int i = 0; i < N; i += 8) {
    F8 x = load<F8>(a + i), y = load<F8>(b + i), z = {};
    if constexpr (Op::kArity > 2) z = load<F8>(c + i);
    if (flags & kHalfFtz) {
      constexpr float kLeastNormal = 0x1p-14f;
      x = zero_below(x, kLeastNormal), y = zero_below(y, kLeastNormal),
      z = zero_below(z, kLeastNormal);
    }
    F8 r = Op::template of<K>(x, y, z);
    if (flags & kHalfFtz) r = zero_below(r, kFlushBelow);
    if (flags & kHalfSat) r = r > 0.0f ? (r < 1.0f ? r : F8{} + 1.0f) : F8{};
    if (flags & kHalfRelu) r = r <= 0.0f ? F8{} : r;
    store(a + i, r);
  }
  narrow<K, N>(a, out);
  if (flags & kHalfOob) {
    const uint16_t *pa = w.src<uint16_t>(inst->a), *pb = w.src<uint16_t>(inst->b);
    for (int i = 0; i < N; ++i)
      if ((pa[i] & 0x7fff) == kOobNan || (pb[i] & 0x7fff) == kOobNan) out[i] = 0;
  }
  store_halves<N>(w, inst->d, out);
  return inst + (Plain ? 1 : 2);
}

// Comparison, sign and magnitude work on the bits.
template <Type K>
struct HalfBits {
  static constexpr uint16_t kInfinity = K == Type::f16 ? 0x7c00 : 0x7f80;
  static constexpr uint16_t kLeastNormal = K == Type::f16 ? 0x0400 : 0x0080;
  static H16 is_nan(H16 x) { return H16((x & 0x7fff) > kInfinity); }
  static H16 flush(H16 x) { return (x & 0x7fff) < kLeastNormal ? x & 0x8000 : x; }
  // Unsigned integers in the order of the numbers, -0 below +0.
  static H16 order(H16 x) { return (x & 0x8000) != 0 ? ~x : x | 0x8000; }
};

template <Type K, bool Max, int N>
const Inst* half_minmax(Warp& w, const Inst* inst) {
  using Bits = HalfBits<K>;
  const uint32_t flags = wide(inst).flags;
  const uint16_t *pa = w.src<uint16_t>(inst->a), *pb = w.src<uint16_t>(inst->b);
  alignas(32) uint16_t out[N];
  for (int i = 0; i < N; i += 16) {
    H16 a = load<H16>(pa + i), b = load<H16>(pb + i), sign = {};
    if (flags & kHalfFtz) a = Bits::flush(a), b = Bits::flush(b);
    if (flags & kHalfXorSign) {
      sign = (a ^ b) & 0x8000;
      a &= 0x7fff;
      b &= 0x7fff;
    }
    const H16 a_nan = Bits::is_nan(a), b_nan = Bits::is_nan(b);
    const H16 before = H16(Max ? Bits::order(a) > Bits::order(b) : Bits::order(a) < Bits::order(b));
    const H16 r = ((b_nan | (before & ~a_nan)) != 0 ? a : b) | sign;
    const H16 bad = flags & kHalfNan ? a_nan | b_nan : a_nan & b_nan;
    store(out + i, bad != 0 ? H16{} + kNan16 : r);
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
  for (int i = 0; i < N; i += 16) {
    const H16 given = load<H16>(pa + i), a = ftz ? Bits::flush(given) : given;
    store(out + i, Bits::is_nan(a) != 0 ? H16{} + kNan16 : Negate ? a ^ 0x8000 : a & 0x7fff);
  }
  store_halves<N>(w, inst->d, out);
  return inst + 2;
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
    {"fma[rn][oob]{relu}[f16|f16x2|bf16|bf16x2]", "d,a,b,c", Unit::half, kRegs,
     arithmetic<HalfFused>},
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
