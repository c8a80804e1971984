// cvt between the scalar types. Conversions that kernels do in their inner loops have handlers of
// their own; all others share four loops that look at the types lane by lane: integer or float to
// integer or float.
//
// What a NaN becomes is the hardware's choice, not PTX's: an integer 0, or the sign bit alone where
// either side has 64 bits; a f64's payload survives, a f32's or f16's does not, unless the
// conversion is a mere move.
#include <cmath>
#include <cstdint>

#include "vm/isa/float.h"
#include "vm/isa/groups.h"
#include "vm/isa/half.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

bool is_float(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
}
bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}

// --- modifiers of the shared loops ---

struct Conversion {
  Type to, from;
  Round round;
  bool integral, ftz, sat;  // integral: rounds to an integer
  bool plain() const { return !integral && !ftz && !sat; }
};
uint32_t pack(const Form& form) {
  const int whole = form.index_of({"rni", "rzi", "rmi", "rpi"}, -1);
  const uint32_t round = whole >= 0 ? uint32_t(whole) : uint32_t(round_of(form));
  return uint32_t(form.types[0]) | uint32_t(form.types[1]) << 8 | round << 16 |
         (whole >= 0 ? 1u << 18 : 0) | (form.has("ftz") ? 1u << 19 : 0) |
         (form.has("sat") ? 1u << 20 : 0);
}
Conversion unpack(uint32_t flags) {
  return {Type(flags & 0xff),    Type(flags >> 8 & 0xff), Round(flags >> 16 & 3),
          bool(flags >> 18 & 1), bool(flags >> 19 & 1),   bool(flags >> 20 & 1)};
}

// --- lanes by run-time type ---

int64_t read_integer(Type type, const void* lanes, int i) {  // u64 as its bits
  switch (type) {
    case Type::u8: return uint8_t(static_cast<const uint16_t*>(lanes)[i]);
    case Type::s8: return int8_t(static_cast<const uint16_t*>(lanes)[i]);
    case Type::u16: return static_cast<const uint16_t*>(lanes)[i];
    case Type::s16: return static_cast<const int16_t*>(lanes)[i];
    case Type::u32: return static_cast<const uint32_t*>(lanes)[i];
    case Type::s32: return static_cast<const int32_t*>(lanes)[i];
    default: return static_cast<const int64_t*>(lanes)[i];
  }
}
double read_float(Type type, const void* lanes, int i) {
  switch (type) {
    case Type::f16: return half_to_float(static_cast<const uint16_t*>(lanes)[i]);
    case Type::bf16: return brain_to_float(static_cast<const uint16_t*>(lanes)[i]);
    case Type::f32: return static_cast<const float*>(lanes)[i];
    default: return static_cast<const double*>(lanes)[i];
  }
}
void write_lane(Type type, void* lanes, int i, uint64_t bits) {
  switch (type == Type::u8 || type == Type::s8 ? 2 : size_of(type)) {
    case 2: static_cast<uint16_t*>(lanes)[i] = uint16_t(bits); break;
    case 4: static_cast<uint32_t*>(lanes)[i] = uint32_t(bits); break;
    default: static_cast<uint64_t*>(lanes)[i] = bits; break;
  }
}

double to_integer(double x, Round round) {
  switch (round) {
    case Round::rn: return std::nearbyint(x);
    case Round::rz: return std::trunc(x);
    case Round::rm: return std::floor(x);
    default: return std::ceil(x);
  }
}

// --- the four loops ---

const Inst* saturate_integer(Warp& w, const Inst* inst) {
  const Conversion c = unpack(wide(inst).flags);
  const void* a = w.src<uint8_t>(inst->a);
  void* d = w.reg<uint8_t>(inst->d);
  const int bits = size_of(c.to) * 8;
  using Any = __int128;
  const Any lowest = is_signed(c.to) ? -(Any(1) << (bits - 1)) : 0;
  const Any highest = (Any(1) << (bits - is_signed(c.to))) - 1;
  each_active(w.mask, [&](int i) {
    const int64_t raw = read_integer(c.from, a, i);
    const Any x = c.from == Type::u64 ? Any(uint64_t(raw)) : Any(raw);
    write_lane(c.to, d, i, uint64_t(x < lowest ? lowest : x > highest ? highest : x));
  });
  return inst + 2;
}

const Inst* float_to_integer(Warp& w, const Inst* inst) {
  const Conversion c = unpack(wide(inst).flags);
  const void* a = w.src<uint8_t>(inst->a);
  void* d = w.reg<uint8_t>(inst->d);
  const int bits = size_of(c.to) * 8;
  const bool is_s = is_signed(c.to);
  const double below = is_s ? -std::ldexp(1.0, bits - 1) : 0.0,
               above = std::ldexp(1.0, bits - is_s);
  const uint64_t lowest = is_s ? ~0ull << (bits - 1) : 0, highest = ~0ull >> (64 - bits + is_s);
  const bool wide_nan = bits == 64 || c.from == Type::f64;
  const uint64_t nan = !wide_nan ? 0 : is_s ? lowest : 1ull << (bits - 1);
  each_active(w.mask, [&](int i) {
    double x = read_float(c.from, a, i);
    if (c.ftz && std::fabs(x) < 0x1p-126) x = 0;
    const double r = to_integer(x, c.round);
    const uint64_t value = x != x       ? nan
                           : r < below  ? lowest
                           : r >= above ? highest
                           : is_s       ? uint64_t(int64_t(r))
                                        : uint64_t(r);
    write_lane(c.to, d, i, value);
  });
  return inst + 2;
}

const Inst* integer_to_float(Warp& w, const Inst* inst) {
  const Conversion c = unpack(wide(inst).flags);
  const void* a = w.src<uint8_t>(inst->a);
  void* d = w.reg<uint8_t>(inst->d);
  const ArithmeticScope scope(c.round);
  each_active(w.mask, [&](int i) {
    int64_t x = read_integer(c.from, a, i);
    const bool negative = x < 0 && c.from != Type::u64;
    if (c.sat) x = x != 0 && !negative;
    const bool as_unsigned = c.from == Type::u64 && !c.sat;
    if (c.to == Type::f32) {
      write_lane(c.to, d, i, bits_of(as_unsigned ? float(uint64_t(x)) : float(x)));
    } else if (c.to == Type::f64) {
      write_lane(c.to, d, i, bits_of(as_unsigned ? double(uint64_t(x)) : double(x)));
    } else {
      const NarrowFormat& f = c.to == Type::f16 ? kFormatF16 : kFormatBf16;
      const bool minus = negative && !c.sat;
      write_lane(c.to, d, i, round_to(f, minus, minus ? -uint64_t(x) : uint64_t(x), 0, c.round));
    }
  });
  return inst + 2;
}

// `x` is a NaN of type c.from, made f64 without loss.
uint64_t convert_nan(const Conversion& c, uint64_t raw, double x) {
  if (c.sat) return 0;
  const uint64_t sign = bits_of(x) >> 63, payload = (bits_of(x) & ((1ull << 52) - 1)) | 1ull << 51;
  switch (c.to) {
    case Type::f32:
      if (c.from == Type::f64) return sign << 31 | 0x7f800000u | payload >> 29;
      if (c.plain() && c.from == Type::f32) return raw;
      if (c.plain() && c.from == Type::bf16) return raw << 16;
      return kNan32;
    case Type::f64:
      if (c.from == Type::f64 && c.plain()) return raw;
      if (c.ftz) return 0x7fffffffe0000000ull;
      return sign << 63 | 0x7ffull << 52 | payload;
    case Type::f16: return c.from == Type::f64 ? sign << 15 | 0x7c00 | payload >> 42 : kNan16;
    default: return c.from == Type::f64 ? sign << 15 | 0x7f80 | payload >> 45 : kNan16;
  }
}

// Subnormal, were the exponent not bounded: rounding to 24 bits does not reach the least normal.
bool is_tiny(double x) { return std::fabs(x) < 1 && std::fabs(float(x * 0x1p30)) < 0x1p-96f; }

const Inst* float_to_float(Warp& w, const Inst* inst) {
  const Conversion c = unpack(wide(inst).flags);
  const void* a = w.src<uint8_t>(inst->a);
  void* d = w.reg<uint8_t>(inst->d);
  const ArithmeticScope scope(c.integral ? Round::rn : c.round);
  each_active(w.mask, [&](int i) {
    double x = read_float(c.from, a, i);
    if (x != x) {
      const uint64_t raw = size_of(c.from) == 8   ? static_cast<const uint64_t*>(a)[i]
                           : size_of(c.from) == 4 ? static_cast<const uint32_t*>(a)[i]
                                                  : static_cast<const uint16_t*>(a)[i];
      return write_lane(c.to, d, i, convert_nan(c, raw, x));
    }
    // On the way to f16 a f32 subnormal counts, .ftz or not: rp and rm make the least f16 of it.
    if (c.ftz && c.from == Type::f32 && c.to != Type::f16 && std::fabs(x) < 0x1p-126)
      x = std::copysign(0.0, x);
    if (c.integral) x = std::copysign(to_integer(x, c.round), x);
    if (c.sat) x = saturate(x);
    switch (c.to) {
      case Type::f32: {
        const bool flushed = c.ftz && is_tiny(x);
        return write_lane(c.to, d, i, bits_of(flushed ? float(std::copysign(0.0, x)) : float(x)));
      }
      case Type::f64: return write_lane(c.to, d, i, bits_of(x));
      case Type::f16: return write_lane(c.to, d, i, round_to(kFormatF16, x, c.round));
      default: return write_lane(c.to, d, i, round_to(kFormatBf16, x, c.round));
    }
  });
  return inst + 2;
}

// --- fast paths ---

// Between integers a lane is widened or cut; an 8-bit result is widened again, to the 16 bits of
// its register.
template <Type To, Type From, bool Full>
const Inst* resize(Warp& w, const Inst* inst) {
  const LaneT<From>* a = w.src<LaneT<From>>(inst->a);
  each_lane<Full>(w.reg<LaneT<To>>(inst->d), w.mask, [&](int i) {
    LaneT<From> x = a[i];
    if constexpr (From == Type::u8) x = uint8_t(x);
    if constexpr (From == Type::s8) x = int8_t(x);
    if constexpr (To == Type::u8) return LaneT<To>(uint8_t(x));
    else if constexpr (To == Type::s8) return LaneT<To>(int8_t(x));
    else return LaneT<To>(x);
  });
  return inst + 1;
}
template <Type To>
Handlers resize_from(Type from) {
  using All = TypeSet<Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64>;
  if (from == Type::s64) from = Type::u64;  // nothing is wider
  return detail::Pick<All>::of(from, []<Type K>() -> Handlers {
    return {resize<To, K, true>, resize<To, K, false>};
  });
}

// One lambda per lane, both handlers.
template <class From, auto Op>
constexpr Handlers lane_op() {
  return {lane_handler<From, Op, true>, lane_handler<From, Op, false>};
}
template <class To>
constexpr auto kTo = [](auto x) { return To(x); };

template <Round R>
inline float whole(float x) {
  if constexpr (R == Round::rn) return std::nearbyint(x);
  else if constexpr (R == Round::rz) return std::trunc(x);
  else if constexpr (R == Round::rm) return std::floor(x);
  else return std::ceil(x);
}
inline constexpr float k2To31 = 0x1p31f, k2To32 = 0x1p32f;
template <Round R>
inline constexpr auto kToSigned = [](float x) -> int32_t {
  const float r = whole<R>(x);
  const bool inside = r >= -k2To31 && r < k2To31;
  const int32_t value = int32_t(inside ? r : 0.0f);
  return inside ? value : r >= k2To31 ? INT32_MAX : r < -k2To31 ? INT32_MIN : 0;
};
template <Round R>
inline constexpr auto kToUnsigned = [](float x) -> uint32_t {
  const float r = whole<R>(x);
  const bool upper = r >= k2To31 && r<k2To32, lower = r> 0 && r < k2To31;
  const uint32_t value = uint32_t(int32_t(upper ? r - k2To31 : lower ? r : 0.0f));
  return r >= k2To32 ? UINT32_MAX : value + (upper ? 0x80000000u : 0u);
};
template <Round R>
inline constexpr auto kToWhole =
    [](float x) -> float { return canonical(std::copysign(whole<R>(x), x)); };

template <bool Full>
const Inst* half_to_single(Warp& w, const Inst* inst) {
  alignas(32) float x[kWarpSize];
  widen<Type::f16, kWarpSize>(w.src<uint16_t>(inst->a), x);
  each_lane<Full>(w.reg<float>(inst->d), w.mask, [&](int i) { return canonical(x[i]); });
  return inst + 1;
}
template <Type K>
const Inst* single_to_half(Warp& w, const Inst* inst) {
  alignas(32) uint16_t out[kWarpSize];
  narrow<K, kWarpSize>(w.src<float>(inst->a), out);
  store_halves<kWarpSize>(w, inst->d, out);
  return inst + 1;
}

// make<R>() for the rounding mode.
template <class Make>
Handlers by_round(Round round, Make make) {
  switch (round) {
    case Round::rn: return make.template operator()<Round::rn>();
    case Round::rz: return make.template operator()<Round::rz>();
    case Round::rm: return make.template operator()<Round::rm>();
    default: return make.template operator()<Round::rp>();
  }
}

// {} where the shared loops do.
Handlers fast_path(const Conversion& c) {
  if (c.ftz) return {};
  if (c.to == Type::f32 && c.from == Type::f32 && c.sat && !c.integral)
    return lane_op<float, [](float x) { return saturate(x); }>();
  if (c.sat) return {};
  if (c.to == Type::f32 && c.from == Type::f32) {
    if (!c.integral) return lane_op<uint32_t, [](uint32_t x) { return x; }>();
    return by_round(c.round, []<Round R>() { return lane_op<float, kToWhole<R>>(); });
  }
  if (c.from == Type::f32 && c.to == Type::s32)
    return by_round(c.round, []<Round R>() { return lane_op<float, kToSigned<R>>(); });
  if (c.from == Type::f32 && c.to == Type::u32)
    return by_round(c.round, []<Round R>() { return lane_op<float, kToUnsigned<R>>(); });
  if (c.to == Type::f64 && c.from == Type::f32) return lane_op<float, kTo<double>>();
  if (c.to == Type::f64 && c.from == Type::s32) return lane_op<int32_t, kTo<double>>();
  if (c.to == Type::f64 && c.from == Type::u32) return lane_op<uint32_t, kTo<double>>();
  if (c.to == Type::f32 && c.from == Type::bf16)
    return lane_op<uint16_t, [](uint16_t x) { return uint32_t(x) << 16; }>();
  if (c.to == Type::f32 && c.from == Type::f16)
    return {half_to_single<true>, half_to_single<false>};
  if (c.round != Round::rn) return {};
  if (c.to == Type::f32 && c.from == Type::f64) return lane_op<double, kTo<float>>();
  if (c.to == Type::f32 && c.from == Type::s32) return lane_op<int32_t, kTo<float>>();
  if (c.to == Type::f32 && c.from == Type::u32) return lane_op<uint32_t, kTo<float>>();
  if (c.to == Type::f16 && c.from == Type::f32)
    return {single_to_half<Type::f16>, single_to_half<Type::f16>};
  if (c.to == Type::bf16 && c.from == Type::f32)
    return {single_to_half<Type::bf16>, single_to_half<Type::bf16>};
  return {};
}

// --- selection ---

Handlers convert_integer(const Form& form) {
  const Type to = form.types[0], from = form.types[1];
  if (form.has("sat")) {  // exists where something can be out of range
    const bool fits = is_signed(to) == is_signed(from)
                          ? size_of(to) >= size_of(from)
                          : is_signed(to) && size_of(to) > size_of(from);
    if (fits) return {};
    return {saturate_integer, saturate_integer, true, pack(form)};
  }
  switch (to) {
    case Type::u8: return resize_from<Type::u8>(from);
    case Type::s8: return resize_from<Type::s8>(from);
    case Type::u16:
    case Type::s16: return resize_from<Type::u16>(from);
    case Type::u32:
    case Type::s32: return resize_from<Type::u32>(from);
    default: return resize_from<Type::u64>(from);
  }
}
Handlers convert(const Form& form) {
  const uint32_t flags = pack(form);
  const Conversion c = unpack(flags);
  if (const Handlers fast = fast_path(c); fast.masked) return fast;
  const Handler h =
      is_float(c.to) ? (is_float(c.from) ? float_to_float : integer_to_float) : float_to_integer;
  return {h, h, true, flags};
}
// Modifiers match in any order, but of two types the first is the destination.
Handlers to_integer_type(const Form& form) {
  return is_float(form.types[0]) ? Handlers{} : convert(form);
}
Handlers from_integer_type(const Form& form) {
  return is_float(form.types[1]) ? Handlers{} : convert(form);
}
template <Type To>
Handlers to(const Form& form) {
  return form.types[0] == To ? convert(form) : Handlers{};
}

constexpr InstrDef kRows[] = {
    {"cvt{sat}[%integer][%integer]", "d,a:1", Unit::conv, kRegs, convert_integer},
    {"cvt[%iround]{ftz}{sat}[%integer][f32]", "d,a:1", Unit::conv, kRegs, to_integer_type},
    {"cvt[%iround]{sat}[%integer][f16|f64]", "d,a:1", Unit::conv, kRegs, to_integer_type},
    {"cvt[%iround][u16|u32|u64|s16|s32|s64][bf16]", "d,a:1", Unit::conv, kRegs, to_integer_type},
    {"cvt[%round]{ftz}{sat}[f32][%integer]", "d,a:1", Unit::conv, kRegs, from_integer_type},
    {"cvt[%round]{sat}[f16|f64][%integer]", "d,a:1", Unit::conv, kRegs, from_integer_type},
    {"cvt[%round][bf16][u16|u32|u64|s16|s32|s64]", "d,a:1", Unit::conv, kRegs, from_integer_type},
    {"cvt{%iround}{ftz}{sat}[f32][f32]", "d,a:1", Unit::conv, kRegs, to<Type::f32>},
    {"cvt{%iround}{sat}[f64][f64]", "d,a:1", Unit::conv, kRegs, to<Type::f64>},
    {"cvt{%iround}{sat}[f16][f16]", "d,a:1", Unit::conv, kRegs, to<Type::f16>},
    {"cvt{%iround}[bf16][bf16]", "d,a:1", Unit::conv, kRegs, to<Type::bf16>},
    {"cvt[%round]{ftz}{sat}[f32][f64]", "d,a:1", Unit::conv, kRegs, to<Type::f32>},
    {"cvt[%round]{ftz}{sat}[f16][f32]", "d,a:1", Unit::conv, kRegs, to<Type::f16>},
    {"cvt[%round]{ftz}[bf16][f32]", "d,a:1", Unit::conv, kRegs, to<Type::bf16>},
    {"cvt[%round]{sat}[f16][f64]", "d,a:1", Unit::conv, kRegs, to<Type::f16>},
    {"cvt[%round][bf16][f64]", "d,a:1", Unit::conv, kRegs, to<Type::bf16>},
    {"cvt{ftz}{sat}[f64][f32]", "d,a:1", Unit::conv, kRegs, to<Type::f64>},
    {"cvt{ftz}{sat}[f32][f16]", "d,a:1", Unit::conv, kRegs, to<Type::f32>},
    {"cvt{sat}[f64][f16]", "d,a:1", Unit::conv, kRegs, to<Type::f64>},
    {"cvt{%round}{ftz}[f32][bf16]", "d,a:1", Unit::conv, kRegs, to<Type::f32>},
    {"cvt{%round}[f64][bf16]", "d,a:1", Unit::conv, kRegs, to<Type::f64>},
    {"cvt{%round}[f16][bf16]", "d,a:1", Unit::conv, kRegs, to<Type::f16>},
    {"cvt{%round}[bf16][f16]", "d,a:1", Unit::conv, kRegs, to<Type::bf16>},
};

}  // namespace

std::span<const InstrDef> convert_rows() { return kRows; }

}  // namespace ridge::vm
