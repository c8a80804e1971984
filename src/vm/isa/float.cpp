// Addition, multiplication, fused multiply-add, division and square root of f32 and f64.
//
// All run as vectors, then one test asks whether any result is a NaN; if so, `careful` does the
// warp again.
#include "vm/isa/float.h"

#include <cmath>

#include "vm/isa/float_vector.h"
#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

inline float fused(float a, float b, float c) { return std::fma(a, b, c); }
inline double fused(double a, double b, double c) { return std::fma(a, b, c); }
inline float root(float a) { return std::sqrt(a); }
inline double root(double a) { return std::sqrt(a); }
template <class T>
inline T one_like(T) {
  return T(1);
}
#if defined(__AVX2__) && defined(__FMA__)
inline __m256 fused(__m256 a, __m256 b, __m256 c) { return Vector<float>::fma(a, b, c); }
inline __m256d fused(__m256d a, __m256d b, __m256d c) { return Vector<double>::fma(a, b, c); }
inline __m256 root(__m256 a) { return Vector<float>::sqrt(a); }
inline __m256d root(__m256d a) { return Vector<double>::sqrt(a); }
inline __m256 one_like(__m256) { return Vector<float>::one(); }
inline __m256d one_like(__m256d) { return Vector<double>::one(); }
#endif

// V is a lane's float or double, or a vector of them. kNans: which operand's NaN a f64 result
// takes, in this order.
struct Add {
  static constexpr int kArity = 2;
  static constexpr int kNans[] = {1, 0};
  template <class V>
  static V of(V a, V b, V) {
    return a + b;
  }
};
struct Subtract {
  static constexpr int kArity = 2;
  static constexpr int kNans[] = {1, 0};
  template <class V>
  static V of(V a, V b, V) {
    return a - b;
  }
};
struct Multiply {
  static constexpr int kArity = 2;
  static constexpr int kNans[] = {1, 0};
  template <class V>
  static V of(V a, V b, V) {
    return a * b;
  }
};
struct Fused {
  static constexpr int kArity = 3;
  static constexpr int kNans[] = {1, 2, 0};
  template <class V>
  static V of(V a, V b, V c) {
    return fused(a, b, c);
  }
};
struct Divide {
  static constexpr int kArity = 2;
  static constexpr int kNans[] = {0, 1};
  template <class V>
  static V of(V a, V b, V) {
    return a / b;
  }
};
struct Reciprocal {
  static constexpr int kArity = 1;
  static constexpr int kNans[] = {0};
  template <class V>
  static V of(V a, V, V) {
    return one_like(a) / a;
  }
};
struct Root {
  static constexpr int kArity = 1;
  static constexpr int kNans[] = {0};
  template <class V>
  static V of(V a, V, V) {
    return root(a);
  }
};

// The lanes' operands; those an operation lacks read the first one again, which the compiler drops.
template <class T, class Op>
struct Operands {
  const T *a, *b, *c;
  Operands(const Warp& w, const Inst* inst)
      : a(w.src<T>(inst->a)),
        b(Op::kArity > 1 ? w.src<T>(inst->b) : a),
        c(Op::kArity > 2 ? w.src<T>(inst->c) : a) {}
};

template <class Op>
inline float lane_result(float a, float b, float c) {
  return canonical(Op::of(a, b, c));
}
template <class Op>
inline double lane_result(double a, double b, double c) {
  const double operands[] = {a, b, c};
  uint64_t nan = kNan64;
  for (int k = Op::kArity; k-- > 0;) {
    const double x = operands[Op::kNans[k]];
    nan = x == x ? nan : bits_of(x) | kQuiet64;
  }
  const double r = Op::of(a, b, c);
  return r == r ? r : double_of(nan);
}

// Lane by lane, with the hardware's NaNs.
template <class T, class Op>
[[gnu::noinline]] void careful(Warp& w, const Inst* inst, uint32_t flags) {
  const Operands<T, Op> in(w, inst);
  const ArithmeticScope scope(Round(flags & kRoundMask), flags & kFtz);
  each_lane<false>(w.reg<T>(inst->d), w.mask, [&](int i) {
    const T r = lane_result<Op>(in.a[i], in.b[i], in.c[i]);
    return flags & kSat ? saturate(r) : r;
  });
}

#if defined(__AVX2__) && defined(__FMA__)
// What inactive lanes hold might be subnormal, which takes a CPU a hundred times as long, or a NaN:
// they compute with 1.
template <class T, class Op, bool Full>
[[gnu::always_inline]] inline void compute(const Operands<T, Op>& in, uint32_t mask,
                                           typename Vector<T>::V* r) {
  using V = Vector<T>;
#pragma GCC unroll 8
  for (int k = 0; k < kWarpSize / V::kLanes; ++k, mask >>= V::kLanes) {
    const auto operand = [&](const T* lanes) {
      const auto v = V::load(lanes + k * V::kLanes);
      return Full ? v : V::select(mask, v, V::one());
    };
    if (!Full && !V::has_lanes(mask)) r[k] = V::one();
    else r[k] = Op::of(operand(in.a), operand(in.b), operand(in.c));
  }
}
#endif

// kNearest and kNearestFtz are known when the tables are built; kFlagged reads the wide
// instruction's flags.
enum class Mode { kNearest, kNearestFtz, kFlagged };

template <class T, class Op, Mode M, bool Full>
const Inst* arithmetic_handler(Warp& w, const Inst* inst) {
  const uint32_t flags = M == Mode::kFlagged      ? wide(inst).flags
                         : M == Mode::kNearestFtz ? uint32_t(kFtz)
                                                  : 0;
  const Inst* next = inst + (M == Mode::kFlagged ? 2 : 1);
#if defined(__AVX2__) && defined(__FMA__)
  using V = Vector<T>;
  constexpr int kSteps = kWarpSize / V::kLanes;
  const Operands<T, Op> in(w, inst);
  typename V::V r[kSteps];
  if constexpr (M == Mode::kNearest) {
    compute<T, Op, Full>(in, w.mask, r);
  } else {
    const ArithmeticScope scope(Round(flags & kRoundMask), flags & kFtz);
    compute<T, Op, Full>(in, w.mask, r);
    for (int k = 0; k < kSteps; ++k) asm volatile("" : "+x"(r[k]));  // before the scope ends
  }
  typename V::V nan = V::unordered(r[0], r[1]);
#pragma GCC unroll 8
  for (int k = 2; k < kSteps; k += 2) nan = V::either(nan, V::unordered(r[k], r[k + 1]));
  if (V::any(nan)) [[unlikely]] {
    careful<T, Op>(w, inst, flags);
    return next;
  }
  if (flags & kSat)
    for (int k = 0; k < kSteps; ++k) r[k] = V::saturate(r[k]);
  T* d = w.reg<T>(inst->d);
#pragma GCC unroll 8
  for (int k = 0; k < kSteps; ++k) {
    T* at = d + k * V::kLanes;
    const uint32_t mask = w.mask >> (k * V::kLanes);
    if constexpr (Full) V::store(at, r[k]);
    else if (V::has_lanes(mask)) V::store(at, V::select(mask, r[k], V::load(at)));
  }
#else
  careful<T, Op>(w, inst, flags);
#endif
  return next;
}

template <class T, class Op, Mode M>
constexpr Handlers handlers(uint32_t flags = 0) {
  return {arithmetic_handler<T, Op, M, true>, arithmetic_handler<T, Op, M, false>,
          M == Mode::kFlagged, flags};
}
template <class Op>
Handlers arithmetic(const Form& form) {
  const uint32_t flags = float_flags(form);
  if (form.type() == Type::f64)
    return flags == 0 ? handlers<double, Op, Mode::kNearest>()
                      : handlers<double, Op, Mode::kFlagged>(flags);
  if (flags == 0) return handlers<float, Op, Mode::kNearest>();
  if (flags == kFtz) return handlers<float, Op, Mode::kNearestFtz>();
  return handlers<float, Op, Mode::kFlagged>(flags);
}

// div.approx is a * (1/b): a divisor above 2^126 has a reciprocal below the normal range, which is
// taken as 0.
template <bool Ftz>
const Inst* divide_approximately(Warp& w, const Inst* inst) {
  const Operands<float, Divide> in(w, inst);
  float* d = w.reg<float>(inst->d);
  for (int i = 0; i < kWarpSize; i += 8) {
    if (!(w.mask >> i & 0xff)) continue;
    F8 a = load<F8>(in.a + i), b = load<F8>(in.b + i);
    if constexpr (Ftz) a = flush(a), b = flush(b);
    const F8 size = as<F8>(as<I8>(b) & 0x7fffffff), zero = as<F8>(as<I8>(b) & INT32_MIN);
    F8 r = size > 0x1p126f ? a * zero : a / b;
    if constexpr (Ftz) r = flush(r);
    r = r == r ? r : as<F8>(I8{} + int32_t(kNan32));
    store(d + i, lanes_of(w.mask >> i) ? r : load<F8>(d + i));
  }
  return inst + 1;
}
Handlers approximate_division(const Form& form) {
  const Handler h = form.has("ftz") ? divide_approximately<true> : divide_approximately<false>;
  return {h, h};
}

constexpr InstrDef kRows[] = {
    {"add{%round}{ftz}{sat}[f32]", "d,a,b", Unit::fma, kRegs, arithmetic<Add>},
    {"add{%round}[f64]", "d,a,b", Unit::fp64, kRegs, arithmetic<Add>},
    {"sub{%round}{ftz}{sat}[f32]", "d,a,b", Unit::fma, kRegs, arithmetic<Subtract>},
    {"sub{%round}[f64]", "d,a,b", Unit::fp64, kRegs, arithmetic<Subtract>},
    {"mul{%round}{ftz}{sat}[f32]", "d,a,b", Unit::fma, kRegs, arithmetic<Multiply>},
    {"mul{%round}[f64]", "d,a,b", Unit::fp64, kRegs, arithmetic<Multiply>},
    {"fma[%round]{ftz}{sat}[f32]", "d,a,b,c", Unit::fma, kRegs, arithmetic<Fused>},
    {"fma[%round][f64]", "d,a,b,c", Unit::fp64, kRegs, arithmetic<Fused>},
    // mad is fma since sm_20.
    {"mad[%round]{ftz}{sat}[f32]", "d,a,b,c", Unit::fma, kRegs, arithmetic<Fused>},
    {"mad[%round][f64]", "d,a,b,c", Unit::fp64, kRegs, arithmetic<Fused>},
    {"div[%round]{ftz}[f32]", "d,a,b", Unit::fma, kRegs, arithmetic<Divide>},
    {"div[%round][f64]", "d,a,b", Unit::fp64, kRegs, arithmetic<Divide>},
    {"div[approx]{ftz}[f32]", "d,a,b", Unit::sfu, kRegs, approximate_division},
    {"div[full]{ftz}[f32]", "d,a,b", Unit::sfu, kRegs, arithmetic<Divide>},
    {"rcp[%round]{ftz}[f32]", "d,a", Unit::fma, kRegs, arithmetic<Reciprocal>},
    {"rcp[%round][f64]", "d,a", Unit::fp64, kRegs, arithmetic<Reciprocal>},
    {"rcp[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, arithmetic<Reciprocal>},
    {"sqrt[%round]{ftz}[f32]", "d,a", Unit::fma, kRegs, arithmetic<Root>},
    {"sqrt[%round][f64]", "d,a", Unit::fp64, kRegs, arithmetic<Root>},
    {"sqrt[approx]{ftz}[f32]", "d,a", Unit::sfu, kRegs, arithmetic<Root>},
};

}  // namespace

std::span<const InstrDef> float_rows() { return kRows; }

}  // namespace ridge::vm
