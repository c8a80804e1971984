// Minimum, maximum, sign and classification of f32 and f64: all on the bits, where a NaN is a large
// magnitude and the order of numbers is the order of integers.
#include <cstdint>
#include <type_traits>

#include "vm/isa/float.h"
#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

template <class U>  // uint32_t for f32, uint64_t for f64
struct FloatBits {
  using S = std::make_signed_t<U>;
  static constexpr int kMantissa = sizeof(U) == 4 ? 23 : 52;
  static constexpr U kSign = U(1) << (sizeof(U) * 8 - 1);
  static constexpr U kMagnitude = kSign - 1;
  static constexpr U kLeastNormal = U(1) << kMantissa;
  static constexpr U kInfinity = kMagnitude >> kMantissa << kMantissa;
  static constexpr U kQuiet = kLeastNormal >> 1;
  static bool is_nan(U x) { return S(x & kMagnitude) > S(kInfinity); }
  static U flush(U x) { return S(x & kMagnitude) < S(kLeastNormal) ? x & kSign : x; }
  // Signed integers in the order of the numbers, -0 below +0.
  static S order(U x) { return S(x ^ (U(S(x) >> (sizeof(U) * 8 - 1)) & kMagnitude)); }
  // f32 forgets the payload; f64 keeps it and quiets it.
  static U nan_from(U x) { return sizeof(U) == 4 ? U(kNan32) : x | kQuiet; }
};

enum MinMaxFlags : uint32_t { kMinMaxFtz = 1, kMinMaxNan = 2, kMinMaxXorSign = 4 };

template <class U, bool Max>
inline U minmax_lane(U a, U b, uint32_t flags) {
  using Bits = FloatBits<U>;
  if (flags & kMinMaxFtz) a = Bits::flush(a), b = Bits::flush(b);
  const U sign = flags & kMinMaxXorSign ? (a ^ b) & Bits::kSign : 0;
  if (flags & kMinMaxXorSign) a &= Bits::kMagnitude, b &= Bits::kMagnitude;
  const bool a_nan = Bits::is_nan(a), b_nan = Bits::is_nan(b);
  const bool before = Max ? Bits::order(a) > Bits::order(b) : Bits::order(a) < Bits::order(b);
  const U r = (b_nan | (!a_nan & before) ? a : b) | sign;
  const bool bad = flags & kMinMaxNan ? a_nan | b_nan : a_nan & b_nan;
  return bad ? Bits::nan_from(b) : r;
}

template <class U, bool Max, bool Full>
const Inst* minmax_plain(Warp& w, const Inst* inst) {
  const U *a = w.src<U>(inst->a), *b = w.src<U>(inst->b);
  each_lane<Full>(w.reg<U>(inst->d), w.mask,
                  [&](int i) { return minmax_lane<U, Max>(a[i], b[i], 0); });
  return inst + 1;
}
template <bool Max>
const Inst* minmax_flagged(Warp& w, const Inst* inst) {
  const uint32_t flags = wide(inst).flags;
  const uint32_t *a = w.src<uint32_t>(inst->a), *b = w.src<uint32_t>(inst->b);
  each_lane<false>(w.reg<uint32_t>(inst->d), w.mask,
                   [&](int i) { return minmax_lane<uint32_t, Max>(a[i], b[i], flags); });
  return inst + 2;
}
template <bool Max>
Handlers minmax(const Form& form) {
  if (form.has("xorsign") != form.has("abs")) return {};
  if (form.type() == Type::f64)
    return {minmax_plain<uint64_t, Max, true>, minmax_plain<uint64_t, Max, false>};
  const uint32_t flags = (form.has("ftz") ? kMinMaxFtz : 0u) | (form.has("NaN") ? kMinMaxNan : 0u) |
                         (form.has("xorsign") ? kMinMaxXorSign : 0u);
  if (flags == 0) return {minmax_plain<uint32_t, Max, true>, minmax_plain<uint32_t, Max, false>};
  return {minmax_flagged<Max>, minmax_flagged<Max>, true, flags};
}

// A NaN comes out as from an addition: the hardware negates on the way into one.
template <class U, bool Negate, bool Ftz, bool Full>
const Inst* sign_handler(Warp& w, const Inst* inst) {
  using Bits = FloatBits<U>;
  const U* a = w.src<U>(inst->a);
  each_lane<Full>(w.reg<U>(inst->d), w.mask, [&](int i) {
    const U x = Ftz ? Bits::flush(a[i]) : a[i];
    const U r = Negate ? x ^ Bits::kSign : x & Bits::kMagnitude;
    return Bits::is_nan(x) ? Bits::nan_from(x) : r;
  });
  return inst + 1;
}
template <bool Negate>
Handlers sign(const Form& form) {
  if (form.type() == Type::f64)
    return {sign_handler<uint64_t, Negate, false, true>,
            sign_handler<uint64_t, Negate, false, false>};
  if (form.has("ftz"))
    return {sign_handler<uint32_t, Negate, true, true>,
            sign_handler<uint32_t, Negate, true, false>};
  return {sign_handler<uint32_t, Negate, false, true>,
          sign_handler<uint32_t, Negate, false, false>};
}

// The magnitude of b with the sign of a; no NaN is touched.
template <class U, bool Full>
const Inst* copysign_handler(Warp& w, const Inst* inst) {
  using Bits = FloatBits<U>;
  const U *a = w.src<U>(inst->a), *b = w.src<U>(inst->b);
  each_lane<Full>(w.reg<U>(inst->d), w.mask,
                  [&](int i) { return U((a[i] & Bits::kSign) | (b[i] & Bits::kMagnitude)); });
  return inst + 1;
}
Handlers copy_sign(const Form& form) {
  if (form.type() == Type::f64)
    return {copysign_handler<uint64_t, true>, copysign_handler<uint64_t, false>};
  return {copysign_handler<uint32_t, true>, copysign_handler<uint32_t, false>};
}

enum class Class : uint32_t { finite, infinite, number, notanumber, normal, subnormal };

template <class U>
const Inst* testp_handler(Warp& w, const Inst* inst) {
  using Bits = FloatBits<U>;
  const U* a = w.src<U>(inst->a);
  const auto test = [&](auto is) {
    return lane_bits([&](int i) { return is(U(a[i] & Bits::kMagnitude)); });
  };
  uint32_t bits = 0;
  switch (Class(wide(inst).flags)) {
    case Class::finite: bits = test([](U m) { return m < Bits::kInfinity; }); break;
    case Class::infinite: bits = test([](U m) { return m == Bits::kInfinity; }); break;
    case Class::number: bits = test([](U m) { return m <= Bits::kInfinity; }); break;
    case Class::notanumber: bits = test([](U m) { return m > Bits::kInfinity; }); break;
    case Class::normal:  // zeros among them
      bits = test([](U m) { return m == 0 || (m >= Bits::kLeastNormal && m < Bits::kInfinity); });
      break;
    case Class::subnormal: bits = test([](U m) { return m != 0 && m < Bits::kLeastNormal; }); break;
  }
  w.set_pred(inst->d, bits);
  return inst + 2;
}
Handlers testp(const Form& form) {
  const int which =
      form.index_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Handler h = form.type() == Type::f64 ? testp_handler<uint64_t> : testp_handler<uint32_t>;
  return {h, h, true, uint32_t(which)};
}

constexpr InstrDef kRows[] = {
    {"min{ftz}{NaN}{xorsign}{abs}[f32]", "d,a,b", Unit::alu, kRegs, minmax<false>},
    {"min[f64]", "d,a,b", Unit::fp64, kRegs, minmax<false>},
    {"max{ftz}{NaN}{xorsign}{abs}[f32]", "d,a,b", Unit::alu, kRegs, minmax<true>},
    {"max[f64]", "d,a,b", Unit::fp64, kRegs, minmax<true>},
    {"abs{ftz}[f32]", "d,a", Unit::fma, kRegs, sign<false>},
    {"abs[f64]", "d,a", Unit::fp64, kRegs, sign<false>},
    {"neg{ftz}[f32]", "d,a", Unit::fma, kRegs, sign<true>},
    {"neg[f64]", "d,a", Unit::fp64, kRegs, sign<true>},
    {"copysign[%float]", "d,a,b", Unit::alu, kRegs, copy_sign},
    {"testp[finite|infinite|number|notanumber|normal|subnormal][%float]", "p,a", Unit::alu, kRegs,
     testp},
};

}  // namespace

std::span<const InstrDef> float_minmax_rows() { return kRows; }

}  // namespace ridge::vm
