// Comparison into predicates (setp) and registers (set), and selection (selp, slct).
#include "vm/isa/compare.h"

#include <optional>

#include "vm/isa/groups.h"

namespace ridge::vm {
namespace {

// --- what a spelling compares, and how ---

bool is_unsigned(Type t) { return t == Type::u16 || t == Type::u32 || t == Type::u64; }
bool is_signed(Type t) { return t == Type::s16 || t == Type::s32 || t == Type::s64; }
bool is_bits(Type t) { return t == Type::b16 || t == Type::b32 || t == Type::b64; }

// The comparison, when PTX has it for this type: bits know eq and ne, unsigned integers have second
// names.
std::optional<Cmp> comparison(const Form& form, Type type) {
  const int i = form.index_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ",
                               "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  constexpr int kFirstUnsigned = 6, kFirstUnordered = 10;
  if (i < 2) return Cmp(i);
  if (is_bits(type)) return std::nullopt;
  if (i < kFirstUnsigned) return Cmp(i);
  if (i < kFirstUnordered) {
    if (!is_unsigned(type)) return std::nullopt;
    return Cmp(i - kFirstUnsigned + int(Cmp::lt));
  }
  if (is_unsigned(type) || is_signed(type)) return std::nullopt;
  return Cmp(i - kFirstUnordered + int(Cmp::equ));
}

enum BoolOp : uint32_t { kNone, kAnd, kOr, kXor };
uint32_t combine(uint32_t op, uint32_t bits, uint32_t c) {
  return op == kAnd ? bits & c : op == kOr ? bits | c : op == kXor ? bits ^ c : bits;
}
uint32_t bool_op(const Form& form) { return uint32_t(form.index_of({"and", "or", "xor"}) + 1); }

// Wide::flags of the forms that look at them.
constexpr uint32_t pack(Cmp c, uint32_t op, uint32_t truth = 0) {
  return uint32_t(c) | op << 4 | truth << 8;
}
Cmp cmp_of(uint32_t flags) { return Cmp(flags & 15); }
uint32_t op_of(uint32_t flags) { return flags >> 4 & 3; }
uint32_t truth_of(uint32_t flags) { return flags >> 8; }

using F16 = HalfSource<0x7c00>;
using F16Ftz = HalfSource<0x7c00, true>;
using BF16 = HalfSource<0x7f80>;

// Calls make<Source>() for the source of this type. .ftz exists for f32 and f16 only.
template <class Make>
Handlers with_source(Type type, bool ftz, Make make) {
  if (ftz && type != Type::f32 && type != Type::f16 && type != Type::f16x2) return {};
  switch (type) {
    case Type::b16:
    case Type::u16: return make.template operator()<IntSource<uint16_t>>();
    case Type::s16: return make.template operator()<IntSource<int16_t>>();
    case Type::b32:
    case Type::u32: return make.template operator()<IntSource<uint32_t>>();
    case Type::s32: return make.template operator()<IntSource<int32_t>>();
    case Type::b64:
    case Type::u64: return make.template operator()<IntSource<uint64_t>>();
    case Type::s64: return make.template operator()<IntSource<int64_t>>();
    case Type::f64: return make.template operator()<FloatSource<double>>();
    case Type::f32:
      return ftz ? make.template operator()<FloatSource<float, true>>()
                 : make.template operator()<FloatSource<float>>();
    case Type::f16:
      return ftz ? make.template operator()<F16Ftz>() : make.template operator()<F16>();
    case Type::bf16: return make.template operator()<BF16>();
    case Type::f16x2:
      return ftz ? make.template operator()<PairSource<F16Ftz>>()
                 : make.template operator()<PairSource<F16>>();
    case Type::bf16x2: return make.template operator()<PairSource<BF16>>();
    default: return {};
  }
}
template <class S>
constexpr bool kIsPair = false;
template <class H>
constexpr bool kIsPair<PairSource<H>> = true;

// --- setp ---

// p|q, a, b: q is the complement, and may be absent.
template <class S, Cmp C, bool Full>
const Inst* setp_handler(Warp& w, const Inst* inst) {
  using T = typename S::Lane;
  const uint32_t bits = S::template bits<C>(w.src<T>(inst->a), w.src<T>(inst->b));
  if constexpr (Full) *w.reg<uint32_t>(inst->d) = bits;
  else w.set_pred(inst->d, bits);
  if (inst->c != kNoOperand) [[unlikely]]
    w.set_pred(inst->c, ~bits);
  return inst + 1;
}
template <class S>
Handlers select_by_cmp(Cmp c) {
  Handlers h;
  const auto pick = [&]<Cmp C>() {
    if (c == C) h = {setp_handler<S, C, true>, setp_handler<S, C, false>};
  };
  pick.template operator()<Cmp::eq>(), pick.template operator()<Cmp::ne>(),
      pick.template operator()<Cmp::lt>();
  pick.template operator()<Cmp::le>(), pick.template operator()<Cmp::gt>(),
      pick.template operator()<Cmp::ge>();
  if constexpr (std::is_floating_point_v<typename S::Lane>) {
    pick.template operator()<Cmp::equ>(), pick.template operator()<Cmp::neu>(),
        pick.template operator()<Cmp::ltu>();
    pick.template operator()<Cmp::leu>(), pick.template operator()<Cmp::gtu>(),
        pick.template operator()<Cmp::geu>();
    pick.template operator()<Cmp::num>(), pick.template operator()<Cmp::nan>();
  }
  return h;
}
Handlers select_setp(const Form& form) {
  const auto c = comparison(form, form.type());
  if (!c) return {};
  return with_source(form.type(), form.has("ftz"), [&]<class S>() -> Handlers {
    if constexpr (kIsPair<S> || requires { S::kNaN; }) return {};  // the next rows
    else return select_by_cmp<S>(*c);
  });
}

// The rest keep comparison and combination in flags. Sources a, b and, with a combination, the
// predicate c; then q, where the row has one. A pair's p is its low half, q its high half.
template <class S, bool HasQ, bool Combines>
const Inst* setp_flags_handler(Warp& w, const Inst* inst) {
  using T = typename S::Lane;
  const Wide& more = wide(inst);
  const T* a = w.src<T>(inst->a);
  const T* b = w.src<T>(inst->b);
  const uint32_t c = Combines ? w.pred(inst->c) : 0;
  const uint32_t q = !HasQ ? kNoOperand : Combines ? more.x[0] : inst->c;
  uint32_t bits, second;
  if constexpr (kIsPair<S>) {
    bits = compare_lanes<S>(cmp_of(more.flags), a, b, 0);
    second = compare_lanes<S>(cmp_of(more.flags), a, b, 16);
  } else {
    bits = compare_lanes<S>(cmp_of(more.flags), a, b);
    second = ~bits;
  }
  w.set_pred(inst->d, combine(op_of(more.flags), bits, c));
  if (q != kNoOperand) w.set_pred(q, combine(op_of(more.flags), second, c));
  return inst + 2;
}
template <bool HasQ, bool Combines>
Handlers select_setp_flags(const Form& form) {
  const auto c = comparison(form, form.type());
  if (!c) return {};
  return with_source(form.type(), form.has("ftz"), [&]<class S>() -> Handlers {
    constexpr Handler h = setp_flags_handler<S, HasQ, Combines>;
    return {h, h, true, pack(*c, bool_op(form))};
  });
}

// --- set ---

// What stands for true in a register of type `d`.
uint32_t truth(Type d) {
  switch (d) {
    case Type::f32: return 0x3f8000;  // of 1.0f, without the low byte: flags have 24 bits for it
    case Type::f16:
    case Type::f16x2: return 0x3c00;
    case Type::bf16:
    case Type::bf16x2: return 0x3f80;
    default: return 0xffffff;
  }
}
template <class D>
D expand_truth(uint32_t t) {
  if constexpr (sizeof(D) == 2) return D(t);
  else return t == 0xffffff ? 0xffffffffu : t << 8;
}

template <class S, class D, bool Combines, bool Full>
const Inst* set_handler(Warp& w, const Inst* inst) {
  using T = typename S::Lane;
  const uint32_t flags = wide(inst).flags;
  const T* a = w.src<T>(inst->a);
  const T* b = w.src<T>(inst->b);
  const uint32_t c = Combines ? w.pred(inst->c) : 0;
  D result[kWarpSize];
  if constexpr (kIsPair<S>) {
    const uint32_t low = combine(op_of(flags), compare_lanes<S>(cmp_of(flags), a, b, 0), c);
    const uint32_t high = combine(op_of(flags), compare_lanes<S>(cmp_of(flags), a, b, 16), c);
    const D one = D(truth_of(flags) & 0xffff);
    for (int i = 0; i < kWarpSize; ++i)
      result[i] = (low >> i & 1 ? one : 0) | (high >> i & 1 ? one << 16 : 0);
  } else {
    const uint32_t bits = combine(op_of(flags), compare_lanes<S>(cmp_of(flags), a, b), c);
    const D one = expand_truth<D>(truth_of(flags));
    select_lanes(
        result, bits, [&](int) { return one; }, [](int) { return D(0); });
  }
  each_lane<Full>(w.reg<D>(inst->d), w.mask, [&](int i) { return result[i]; });
  return inst + 2;
}
template <bool Combines>
Handlers select_set(const Form& form) {
  const Type to = form.types[0], from = form.types[1];
  const auto c = comparison(form, from);
  if (!c || (to == Type::bf16 && form.has("ftz"))) return {};
  return with_source(from, form.has("ftz"), [&]<class S>() -> Handlers {
    const uint32_t flags = pack(*c, bool_op(form), truth(to));
    if constexpr (!kIsPair<S>)
      if (size_of(to) == 2)
        return {set_handler<S, uint16_t, Combines, true>, set_handler<S, uint16_t, Combines, false>,
                true, flags};
    return {set_handler<S, uint32_t, Combines, true>, set_handler<S, uint32_t, Combines, false>,
            true, flags};
  });
}

// --- selp, slct ---

template <class U, bool Full>
const Inst* selp_handler(Warp& w, const Inst* inst) {
  const U* a = w.src<U>(inst->a);
  const U* b = w.src<U>(inst->b);
  U* d = w.reg<U>(inst->d);
  const uint32_t p = w.pred(inst->c);
  if constexpr (Full) {
    select_lanes(
        d, p, [&](int i) { return a[i]; }, [&](int i) { return b[i]; });
  } else {
    U picked[kWarpSize];
    select_lanes(
        picked, p, [&](int i) { return a[i]; }, [&](int i) { return b[i]; });
    each_lane<false>(d, w.mask, [&](int i) { return picked[i]; });
  }
  return inst + 1;
}
Handlers select_selp(const Form& form) {
  switch (size_of(form.type())) {
    case 2: return {selp_handler<uint16_t, true>, selp_handler<uint16_t, false>};
    case 4: return {selp_handler<uint32_t, true>, selp_handler<uint32_t, false>};
    default: return {selp_handler<uint64_t, true>, selp_handler<uint64_t, false>};
  }
}

// a where c >= 0. A NaN is not; flushing subnormals makes the negative ones -0.
template <class U, class C, bool Ftz, bool Full>
const Inst* slct_handler(Warp& w, const Inst* inst) {
  const U* a = w.src<U>(inst->a);
  const U* b = w.src<U>(inst->b);
  const C* c = w.src<C>(inst->c);
  C zero[kWarpSize] = {};
  uint32_t p;
  if constexpr (std::is_same_v<C, float>)
    p = FloatSource<float, Ftz>::template bits<Cmp::ge>(c, zero);
  else p = IntSource<C>::template bits<Cmp::ge>(c, zero);
  U picked[kWarpSize];
  select_lanes(
      picked, p, [&](int i) { return a[i]; }, [&](int i) { return b[i]; });
  each_lane<Full>(w.reg<U>(inst->d), w.mask, [&](int i) { return picked[i]; });
  return inst + 1;
}
template <class U>
Handlers slct_of(const Form& form) {
  if (form.types[1] == Type::s32) {
    if (form.has("ftz")) return {};
    return {slct_handler<U, int32_t, false, true>, slct_handler<U, int32_t, false, false>};
  }
  if (form.has("ftz"))
    return {slct_handler<U, float, true, true>, slct_handler<U, float, true, false>};
  return {slct_handler<U, float, false, true>, slct_handler<U, float, false, false>};
}
Handlers select_slct(const Form& form) {
  switch (size_of(form.type())) {
    case 2: return slct_of<uint16_t>(form);
    case 4: return slct_of<uint32_t>(form);
    default: return slct_of<uint64_t>(form);
  }
}

#define RIDGE_CMP "[eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan]"
#define RIDGE_WORDS "[%bits|%int|%float]"
constexpr Unit kAlu = Unit::alu;

constexpr InstrDef kRows[] = {
    {"setp" RIDGE_CMP "{ftz}" RIDGE_WORDS, "p|q,a,b", kAlu, kRegs, select_setp},
    {"setp" RIDGE_CMP "{ftz}[f16|bf16]", "d:pred,a,b", kAlu, kRegs,
     select_setp_flags<false, false>},
    {"setp" RIDGE_CMP "{ftz}[f16x2|bf16x2]", "p|q,a,b", kAlu, kRegs,
     select_setp_flags<true, false>},
    {"setp" RIDGE_CMP "[%bool]{ftz}" RIDGE_WORDS, "p|q,a,b,c:pred", kAlu, kRegs,
     select_setp_flags<true, true>},
    {"setp" RIDGE_CMP "[%bool]{ftz}[f16|bf16]", "d:pred,a,b,c:pred", kAlu, kRegs,
     select_setp_flags<false, true>},
    {"setp" RIDGE_CMP "[%bool]{ftz}[f16x2|bf16x2]", "p|q,a,b,c:pred", kAlu, kRegs,
     select_setp_flags<true, true>},
    {"set" RIDGE_CMP "{ftz}[u32|s32|f32|f16|bf16]" RIDGE_WORDS, "d,a:1,b:1", kAlu, kRegs,
     select_set<false>},
    {"set" RIDGE_CMP "{ftz}[u16|s16|u32|s32|f16|bf16][f16]", "d,a:1,b:1", kAlu, kRegs,
     select_set<false>},
    {"set" RIDGE_CMP "[u16|s16|u32|s32|bf16][bf16]", "d,a:1,b:1", kAlu, kRegs, select_set<false>},
    {"set" RIDGE_CMP "{ftz}[u32|s32|f16x2][f16x2]", "d,a:1,b:1", kAlu, kRegs, select_set<false>},
    {"set" RIDGE_CMP "[u32|s32|bf16x2][bf16x2]", "d,a:1,b:1", kAlu, kRegs, select_set<false>},
    {"set" RIDGE_CMP "[%bool]{ftz}[u32|s32|f32|f16|bf16]" RIDGE_WORDS, "d,a:1,b:1,c:pred", kAlu,
     kRegs, select_set<true>},
    {"set" RIDGE_CMP "[%bool]{ftz}[u16|s16|u32|s32|f16|bf16][f16]", "d,a:1,b:1,c:pred", kAlu, kRegs,
     select_set<true>},
    {"set" RIDGE_CMP "[%bool][u16|s16|u32|s32|bf16][bf16]", "d,a:1,b:1,c:pred", kAlu, kRegs,
     select_set<true>},
    {"set" RIDGE_CMP "[%bool]{ftz}[u32|s32|f16x2][f16x2]", "d,a:1,b:1,c:pred", kAlu, kRegs,
     select_set<true>},
    {"set" RIDGE_CMP "[%bool][u32|s32|bf16x2][bf16x2]", "d,a:1,b:1,c:pred", kAlu, kRegs,
     select_set<true>},
    {"selp" RIDGE_WORDS, "d,a,b,c:pred", kAlu, kRegs, select_selp},
    {"slct{ftz}" RIDGE_WORDS "[s32|f32]", "d,a,b,c:1", kAlu, kRegs, select_slct},
};

}  // namespace

std::span<const InstrDef> compare_rows() { return kRows; }

}  // namespace ridge::vm
