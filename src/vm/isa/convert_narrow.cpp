// cvt to and from the formats of tensor cores (f16, bf16, tf32, e4m3, e5m2) with saturation to
// finite values and relu, two values per register, and cvt.pack of integers.
#include <cmath>
#include <cstdint>

#include "vm/isa/float.h"
#include "vm/isa/float_vector.h"
#include "vm/isa/groups.h"
#include "vm/isa/half.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

// Selections check which type comes first: modifiers match in any order, but the destination's is
// the first.

enum NarrowFlags : uint32_t { kNarrowRound = 3, kSatFinite = 4, kRelu = 8 };
uint32_t narrow_flags(const Form& form) {
  return uint32_t(round_of(form)) | (form.has("satfinite") ? kSatFinite : 0u) |
         (form.has("relu") ? kRelu : 0u);
}

// Rounds x; `nan` is the format's own.
inline uint32_t narrow_lane(const NarrowFormat& f, float x, uint32_t nan, uint32_t flags) {
  if (x != x) return nan;
  if (flags & kRelu && x <= 0) return 0;
  const uint32_t r = round_to(f, double(x), Round(flags & kNarrowRound));
  return flags & kSatFinite && (r & ~f.sign) > f.largest ? (r & f.sign) | f.largest : r;
}

template <Type K>
struct Narrow;
template <>
struct Narrow<Type::f16> {
  static constexpr NarrowFormat format = kFormatF16;
  static constexpr uint32_t nan = kNan16;
};
template <>
struct Narrow<Type::bf16> {
  static constexpr NarrowFormat format = kFormatBf16;
  static constexpr uint32_t nan = kNan16;
};
template <>
struct Narrow<Type::e4m3> {
  static constexpr NarrowFormat format = kFormatE4m3;
  static constexpr uint32_t nan = 0x7f;
};
template <>
struct Narrow<Type::e5m2> {
  static constexpr NarrowFormat format = kFormatE5m2;
  static constexpr uint32_t nan = 0x7f;
};

template <Type K>
const Inst* to_half(Warp& w, const Inst* inst) {
  const uint32_t flags = wide(inst).flags;
  const float* a = w.src<float>(inst->a);
  each_lane<false>(w.reg<uint16_t>(inst->d), w.mask, [&](int i) {
    return uint16_t(narrow_lane(Narrow<K>::format, a[i], Narrow<K>::nan, flags));
  });
  return inst + 2;
}
template <Type K>
Handlers narrowed(const Form& form) {
  if (!form.has("satfinite") && !form.has("relu")) return {};  // convert.cpp's
  if (form.types[1] != Type::f32) return {};
  return {to_half<K>, to_half<K>, true, narrow_flags(form)};
}

// d = a in the upper half, b in the lower.
template <Type K>
const Inst* to_half_pair(Warp& w, const Inst* inst) {
  const float *a = w.src<float>(inst->a), *b = w.src<float>(inst->b);
  alignas(32) float pairs[2 * kWarpSize];
  alignas(32) uint16_t out[2 * kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) pairs[2 * i] = b[i], pairs[2 * i + 1] = a[i];
  narrow<K, 2 * kWarpSize>(pairs, out);
  store_halves<2 * kWarpSize>(w, inst->d, out);
  return inst + 1;
}
template <Type K>
const Inst* to_pair(Warp& w, const Inst* inst) {
  const uint32_t flags = wide(inst).flags;
  const float *a = w.src<float>(inst->a), *b = w.src<float>(inst->b);
  each_lane<false>(w.reg<uint32_t>(inst->d), w.mask, [&](int i) {
    const uint32_t upper = narrow_lane(Narrow<K>::format, a[i], Narrow<K>::nan, flags);
    const uint32_t lower = narrow_lane(Narrow<K>::format, b[i], Narrow<K>::nan, flags);
    return upper << 16 | lower;
  });
  return inst + 2;
}
Handlers half_pair(const Form& form) {
  if (form.types[1] != Type::f32) return {};
  const uint32_t flags = narrow_flags(form);
  const bool brain = form.types[0] == Type::bf16x2;
  if (flags == uint32_t(Round::rn)) {
    const Handler h = brain ? to_half_pair<Type::bf16> : to_half_pair<Type::f16>;
    return {h, h};
  }
  const Handler h = brain ? to_pair<Type::bf16> : to_pair<Type::f16>;
  return {h, h, true, flags};
}

// The 8-bit formats, always rounded to nearest and saturated: normal numbers by carry into the kept
// bits, subnormal ones by adding the number whose last place is theirs.
template <Type K>
inline U8 to_eighths(F8 x, bool relu) {
  constexpr NarrowFormat kFormat = Narrow<K>::format;
  constexpr int kDropped = 23 - kFormat.mantissa;
  const U8 bits = as<U8>(x), magnitude = bits & 0x7fffffffu;
  const U8 normal =
      ((magnitude + ((1u << (kDropped - 1)) - 1) + ((magnitude >> kDropped) & 1)) >> kDropped) -
      (uint32_t(126 + kFormat.least_exponent) << kFormat.mantissa);
  const F8 unit = as<F8>(U8{} + (uint32_t(127 + kFormat.least_exponent + kDropped) << 23));
  const U8 subnormal = as<U8>(as<F8>(magnitude) + unit) - as<U8>(unit);
  U8 r = magnitude < uint32_t(127 + kFormat.least_exponent) << 23 ? subnormal : normal;
  r = r > kFormat.largest ? U8{} + kFormat.largest : r;
  r |= bits >> 24 & kFormat.sign;
  if (relu) r = x <= 0.0f ? U8{} : r;
  return x != x ? U8{} + Narrow<K>::nan : r;
}
template <Type K>
const Inst* to_eighth_pair(Warp& w, const Inst* inst) {
  const bool relu = wide(inst).flags & kRelu;
  const float *a = w.src<float>(inst->a), *b = w.src<float>(inst->b);
  uint32_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; i += 8)
    store(out + i,
          to_eighths<K>(load<F8>(a + i), relu) << 8 | to_eighths<K>(load<F8>(b + i), relu));
  each_lane<false>(w.reg<uint16_t>(inst->d), w.mask, [&](int i) { return uint16_t(out[i]); });
  return inst + 2;
}
Handlers eighth_pair(const Form& form) {
  if (form.types[1] != Type::f32) return {};
  const Handler h =
      form.types[0] == Type::e4m3x2 ? to_eighth_pair<Type::e4m3> : to_eighth_pair<Type::e5m2>;
  return {h, h, true, narrow_flags(form)};
}
template <Type K>
const Inst* halves_to_eighths(Warp& w, const Inst* inst) {
  const bool relu = wide(inst).flags & kRelu;
  alignas(32) float x[2 * kWarpSize];
  uint32_t out[2 * kWarpSize];
  widen<Type::f16, 2 * kWarpSize>(w.src<uint16_t>(inst->a), x);
  for (int i = 0; i < 2 * kWarpSize; i += 8) store(out + i, to_eighths<K>(load<F8>(x + i), relu));
  each_lane<false>(w.reg<uint16_t>(inst->d), w.mask,
                   [&](int i) { return uint16_t(out[2 * i + 1] << 8 | out[2 * i]); });
  return inst + 2;
}
Handlers eighths_from_halves(const Form& form) {
  if (form.types[1] != Type::f16x2) return {};
  const Handler h =
      form.types[0] == Type::e4m3x2 ? halves_to_eighths<Type::e4m3> : halves_to_eighths<Type::e5m2>;
  return {h, h, true, narrow_flags(form)};
}

template <bool E4m3>
const Inst* eighths_to_halves(Warp& w, const Inst* inst) {
  const bool relu = wide(inst).flags & kRelu;
  const uint16_t* a = w.src<uint16_t>(inst->a);
  const auto one = [&](uint8_t x) -> uint32_t {
    const uint16_t h = E4m3 ? half_from_e4m3(x) : half_from_e5m2(x);
    return relu && h & 0x8000 ? 0 : h;
  };
  each_lane<false>(w.reg<uint32_t>(inst->d), w.mask,
                   [&](int i) { return one(uint8_t(a[i] >> 8)) << 16 | one(uint8_t(a[i])); });
  return inst + 2;
}
Handlers halves_from_eighths(const Form& form) {
  if (form.types[0] != Type::f16x2) return {};
  const Handler h =
      form.types[1] == Type::e4m3x2 ? eighths_to_halves<true> : eighths_to_halves<false>;
  return {h, h, true, narrow_flags(form)};
}

// tf32 is an f32 whose low 13 bits are zero.
const Inst* to_tf32(Warp& w, const Inst* inst) {
  const uint32_t flags = wide(inst).flags;
  const float* a = w.src<float>(inst->a);
  each_lane<false>(w.reg<uint32_t>(inst->d), w.mask,
                   [&](int i) { return narrow_lane(kFormatTf32, a[i], 0x3ffff, flags) << 13; });
  return inst + 2;
}
Handlers tf32(const Form& form) {
  if (form.types[0] != Type::tf32) return {};
  return {to_tf32, to_tf32, true, narrow_flags(form)};
}

// Ties away from zero is an addition; the hardware does it to everything below infinity, and
// saturates by stepping back.
template <bool SatFinite, bool Full>
const Inst* to_tf32_away(Warp& w, const Inst* inst) {
  const uint32_t* a = w.src<uint32_t>(inst->a);
  each_lane<Full>(w.reg<uint32_t>(inst->d), w.mask, [&](int i) {
    const bool finite = (a[i] & 0x7fffffffu) < 0x7f800000u;
    const uint32_t r = (finite ? a[i] + 0x1000u : a[i]) & 0xffffe000u;
    return SatFinite && (r & 0x7fffffffu) >= 0x7f800000u ? r - 0x2000u : r;
  });
  return inst + 1;
}
Handlers tf32_away(const Form& form) {
  if (form.types[0] != Type::tf32) return {};
  if (form.has("satfinite")) return {to_tf32_away<true, true>, to_tf32_away<true, false>};
  return {to_tf32_away<false, true>, to_tf32_away<false, false>};
}

// cvt.pack: a above b, each clamped to `bits`; narrower ones above what is left of c.
struct PackFlags {
  int bits;
  bool is_signed, shifts_c;
};
const Inst* pack_integers(Warp& w, const Inst* inst) {
  const uint32_t flags = wide(inst).flags;
  const PackFlags p = {int(flags & 0xff), bool(flags >> 8 & 1), bool(flags >> 9 & 1)};
  const int64_t lowest = p.is_signed ? -(int64_t(1) << (p.bits - 1)) : 0;
  const int64_t highest = (int64_t(1) << (p.bits - p.is_signed)) - 1;
  const uint32_t mask = (1u << p.bits) - 1;
  const int32_t *a = w.src<int32_t>(inst->a), *b = w.src<int32_t>(inst->b);
  const uint32_t* c = p.shifts_c ? w.src<uint32_t>(inst->c) : w.src<uint32_t>(inst->a);
  const auto clamped = [&](int64_t x) {
    return uint32_t(x < lowest ? lowest : x > highest ? highest : x) & mask;
  };
  each_lane<false>(w.reg<uint32_t>(inst->d), w.mask, [&](int i) {
    const uint32_t pair = clamped(a[i]) << p.bits | clamped(b[i]);
    return p.shifts_c ? c[i] << (2 * p.bits) | pair : pair;
  });
  return inst + 2;
}
Handlers pack(const Form& form) {
  if (form.modifiers[2] == "s32") return {};
  constexpr uint32_t kBits[] = {16, 16, 8, 8, 4, 4, 2, 2};
  const int which = form.index_of({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  const uint32_t flags = kBits[which] | (which % 2 ? 1u << 8 : 0) | (which >= 2 ? 1u << 9 : 0);
  return {pack_integers, pack_integers, true, flags};
}

constexpr InstrDef kRows[] = {
    {"cvt[rn|rz]{satfinite}{relu}[f16][f32]", "d,a:1", Unit::conv, kRegs, narrowed<Type::f16>},
    {"cvt[rn|rz]{satfinite}{relu}[bf16][f32]", "d,a:1", Unit::conv, kRegs, narrowed<Type::bf16>},
    {"cvt[rn|rz]{satfinite}{relu}[f16x2|bf16x2][f32]", "d,a:1,b:1", Unit::conv, kRegs, half_pair},
    {"cvt[rn][satfinite]{relu}[e4m3x2|e5m2x2][f32]", "d,a:1,b:1", Unit::conv, kRegs, eighth_pair},
    {"cvt[rn][satfinite]{relu}[e4m3x2|e5m2x2][f16x2]", "d,a:1", Unit::conv, kRegs,
     eighths_from_halves},
    {"cvt[rn]{relu}[f16x2][e4m3x2|e5m2x2]", "d,a:1", Unit::conv, kRegs, halves_from_eighths},
    {"cvt[rn|rz]{relu}[tf32][f32]", "d,a:1", Unit::conv, kRegs, tf32},
    {"cvt[rna]{satfinite}[tf32][f32]", "d,a:1", Unit::conv, kRegs, tf32_away},
    {"cvt[pack][sat][u16|s16][s32]", "d:b32,a:s32,b:s32", Unit::conv, kRegs, pack},
    {"cvt[pack][sat][u8|s8|u4|s4|u2|s2][s32][b32]", "d:b32,a:s32,b:s32,c:b32", Unit::conv, kRegs,
     pack},
};

}  // namespace

std::span<const InstrDef> convert_narrow_rows() { return kRows; }

}  // namespace ridge::vm
