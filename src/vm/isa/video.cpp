// Video instructions: arithmetic on selected bytes and halves of words (vadd …), saturated, then
// combined with or merged into a third operand; and the same on two halves (vadd2 …) or four bytes
// (vadd4 …) at once.
#include "vm/isa/video.h"

#include <algorithm>

#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

enum class Op { add, sub, absdiff, min, max, avrg, set, shl, shr };
enum class Second : uint32_t { none, add, min, max };

// Wide::flags.
struct Modifiers {
  bool d_signed, a_signed, b_signed, saturate;
  Second second;
  bool wrap;       // vshl, vshr
  bool plus_one;   // vmad.po
  uint32_t scale;  // vmad: bits shifted out
  uint32_t cmp;    // vset: eq ne lt le gt ge

  uint32_t pack() const {
    return uint32_t(d_signed) | uint32_t(a_signed) << 1 | uint32_t(b_signed) << 2 |
           uint32_t(saturate) << 3 | uint32_t(second) << 4 | uint32_t(wrap) << 6 |
           uint32_t(plus_one) << 7 | scale << 8 | cmp << 12;
  }
  static Modifiers unpack(uint32_t f) {
    return {bool(f & 1),  bool(f & 2),   bool(f & 4), bool(f & 8), Second(f >> 4 & 3),
            bool(f & 64), bool(f & 128), f >> 8 & 15, f >> 12 & 7};
  }
};

int64_t extend(uint32_t bits, int width, bool is_signed) {
  const int unused = 32 - width;
  return is_signed ? int64_t(int32_t(bits << unused) >> unused) : int64_t(bits << unused >> unused);
}

// The selector of operand k: 0 for d, 1 for a, 2 for b.
uint32_t selector(const Wide& more, int k) {
  const uint32_t s = more.x[kSelectorField + k];
  return s == kNoOperand ? 0 : s;
}

// The byte, half or word that a scalar selector names.
struct Field {
  int shift = 0, width = 32;
};
Field field_of(uint32_t selector) {
  if (selector == 0) return {};
  const int width = selector >> 20 & 1 ? 16 : 8;
  return {int(selector & 15) * width, width};
}
int64_t select(uint32_t word, Field f, bool is_signed) {
  return extend(word >> f.shift, f.width, is_signed);
}

int64_t saturated(int64_t x, int width, bool is_signed) {
  const int64_t one = 1;
  return is_signed ? std::clamp(x, -(one << (width - 1)), (one << (width - 1)) - 1)
                   : std::clamp<int64_t>(x, 0, (one << width) - 1);
}
uint32_t inserted(Field f, uint32_t value, uint32_t c) {
  const uint32_t mask = ((1u << f.width) - 1) << f.shift;
  return (c & ~mask) | (value << f.shift & mask);
}
bool compares(uint32_t cmp, int64_t a, int64_t b) {
  switch (cmp) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    default: return a >= b;
  }
}

template <Op O>
int64_t primary(const Modifiers& m, int64_t a, int64_t b) {
  switch (O) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::absdiff: return a < b ? b - a : a - b;
    case Op::min: return std::min(a, b);
    case Op::max: return std::max(a, b);
    case Op::avrg: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Op::set: return compares(m.cmp, a, b);
    case Op::shl: return int64_t(uint64_t(a) << (m.wrap ? b & 31 : std::min<int64_t>(b, 32)));
    case Op::shr: return a >> (m.wrap ? b & 31 : std::min<int64_t>(b, 32));
  }
}

// --- one value per lane ---
//
// GPUs have no such instructions any more; the assembler writes them in others, and not quite to
// the letter of the PTX documentation. What follows is what an H200 does (tests/vm/isa/golden).

int64_t low_word(int64_t x) { return int64_t(int32_t(uint32_t(x))); }

// Saturation to a word. Sums and differences past the top of u32 wrap; a left shift keeps 34 bits.
template <Op O>
int64_t saturated_word(int64_t t, bool is_signed) {
  constexpr bool kWraps = O == Op::add || O == Op::sub || O == Op::absdiff;
  if (O == Op::shl) t = int64_t(uint64_t(t) << 30) >> 30;
  if (kWraps && !is_signed) return std::max<int64_t>(t, 0);
  return saturated(t, 32, is_signed);
}

// A byte or half of d; the rest is c's. Saturation to it has no lower end, and shifts saturate to a
// word before they are cut. For h1 the value's own upper half is taken.
template <Op O>
uint32_t merged(Field f, const Modifiers& m, int64_t t, uint32_t c) {
  constexpr bool kShift = O == Op::shl || O == Op::shr;
  if (m.saturate)
    t = kShift ? saturated_word<O>(t, m.d_signed)
               : std::min(uint32_t(t), (1u << (f.width - m.d_signed)) - 1);
  return inserted(f, uint32_t(t) >> (f.width == 16 ? f.shift : 0), c);
}

// t op c, in 64 bits: c as the destination's type says, t as it was computed, but sums and
// differences cut to a word.
template <Op O>
uint32_t second_op(const Modifiers& m, int64_t t, uint32_t c) {
  if (m.second == Second::none) return uint32_t(t);
  if (m.second == Second::add) return uint32_t(t) + c;
  constexpr bool kShift = O == Op::shl || O == Op::shr;
  const int64_t first = O == Op::add || O == Op::sub || (kShift && m.saturate) ? low_word(t) : t;
  const int64_t other = extend(c, 32, m.d_signed);
  const bool less = m.d_signed ? first < other : uint64_t(first) < uint64_t(other);
  return less == (m.second == Second::min) ? uint32_t(t) : c;
}

template <Op O>
const Inst* scalar_handler(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const Modifiers m = Modifiers::unpack(more.flags);
  const Field df = field_of(selector(more, 0));
  const Field af = field_of(selector(more, 1));
  const Field bf = field_of(selector(more, 2));
  const bool needs_c = m.second != Second::none || df.width != 32;
  const uint32_t* a = w.src<uint32_t>(inst->a);
  const uint32_t* b = w.src<uint32_t>(inst->b);
  const uint32_t* c = w.src<uint32_t>(needs_c ? inst->c : inst->a);
  uint32_t* d = w.reg<uint32_t>(inst->d);
  each_active(w.mask, [&](int i) {
    int64_t t = primary<O>(m, select(a[i], af, m.a_signed), select(b[i], bf, m.b_signed));
    if (df.width != 32) {
      d[i] = merged<O>(df, m, t, c[i]);
    } else {
      if (m.saturate) t = saturated_word<O>(t, m.d_signed);
      d[i] = second_op<O>(m, t, c[i]);
    }
  });
  return inst + 2;
}

// a * b + c (+ 1), shifted right, saturated. Whole words count as signed whatever their types say;
// those decide how the result is shifted and saturated, together with what is negated.
const Inst* vmad_handler(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const Modifiers m = Modifiers::unpack(more.flags);
  const Field af = field_of(selector(more, 1));
  const Field bf = field_of(selector(more, 2));
  const uint32_t minus = more.x[kMinusField] == kNoOperand ? 0 : more.x[kMinusField];
  const int64_t product_sign = (minus ^ minus >> 1) & 1 ? -1 : 1, c_sign = minus & 4 ? -1 : 1;
  const bool is_signed = m.a_signed || m.b_signed || product_sign < 0 || c_sign < 0;
  const uint32_t* a = w.src<uint32_t>(inst->a);
  const uint32_t* b = w.src<uint32_t>(inst->b);
  const uint32_t* c = w.src<uint32_t>(inst->c);
  uint32_t* d = w.reg<uint32_t>(inst->d);
  each_active(w.mask, [&](int i) {
    const int64_t x = select(a[i], af, m.a_signed || af.width == 32);
    const int64_t y = select(b[i], bf, m.b_signed || bf.width == 32);
    int64_t t = product_sign * x * y + c_sign * extend(c[i], 32, true) + m.plus_one;
    t = is_signed ? t >> m.scale : int64_t(uint64_t(t) >> m.scale);
    if (m.saturate) t = saturated(t, 32, is_signed);
    d[i] = uint32_t(t);
  });
  return inst + 2;
}

// --- two halves or four bytes per lane ---

// Which parts are computed: all, or those a mask such as h1 or b310 names.
template <int Parts>
uint32_t part_mask(uint32_t selector) {
  if (selector == 0) return (1u << Parts) - 1;
  uint32_t mask = 0;
  for (uint32_t i = 0; i < (selector >> 16 & 7); ++i) mask |= 1u << (selector >> (4 * i) & 15);
  return mask;
}

template <Op O, int Parts>
const Inst* packed_handler(Warp& w, const Inst* inst) {
  constexpr int kWidth = 32 / Parts;
  const Wide& more = wide(inst);
  const Modifiers m = Modifiers::unpack(more.flags);
  const uint32_t mask = part_mask<Parts>(selector(more, 0));
  uint32_t a_from = selector(more, 1), b_from = selector(more, 2);
  if (a_from == 0) a_from = 0x3210;  // of the parts of b:a, the first ones are a's
  if (b_from == 0) b_from = Parts == 2 ? 0x32 : 0x7654;
  const uint32_t* a = w.src<uint32_t>(inst->a);
  const uint32_t* b = w.src<uint32_t>(inst->b);
  const uint32_t* c = w.src<uint32_t>(inst->c);
  uint32_t* d = w.reg<uint32_t>(inst->d);
  each_active(w.mask, [&](int i) {
    const uint64_t both = uint64_t(b[i]) << 32 | a[i];
    const auto part = [&](uint32_t from, int p, bool is_signed) {
      return extend(uint32_t(both >> (kWidth * (from >> (4 * p) & 15))), kWidth, is_signed);
    };
    uint32_t result = c[i];
    for (int p = 0; p < Parts; ++p) {
      if (!(mask >> p & 1)) continue;
      int64_t t = primary<O>(m, part(a_from, p, m.a_signed), part(b_from, p, m.b_signed));
      if (m.saturate) t = saturated(t, kWidth, m.d_signed);
      if (m.second == Second::add) result += uint32_t(t);
      else result = inserted({kWidth * p, kWidth}, uint32_t(t), result);
    }
    d[i] = result;
  });
  return inst + 2;
}

// --- rows ---

Modifiers modifiers(const Form& form) {
  Modifiers m{};
  m.d_signed = form.types[0] == Type::s32;
  m.a_signed = form.types[1] == Type::s32;
  m.b_signed = form.types[2] == Type::s32;
  m.saturate = form.has("sat");
  m.second = Second(form.index_of({"add", "min", "max"}) + 1);
  m.wrap = form.has("wrap");
  m.plus_one = form.has("po");
  m.scale = form.has("shr7") ? 7 : form.has("shr15") ? 15 : 0;
  return m;
}
// No destination type: a second operation takes a's sign.
Modifiers set_modifiers(const Form& form) {
  Modifiers m{};
  m.d_signed = form.types[0] == Type::s32;
  m.a_signed = form.types[0] == Type::s32;
  m.b_signed = form.types[1] == Type::s32;
  m.second = Second(form.index_of({"add", "min", "max"}) + 1);
  m.cmp = uint32_t(form.index_of({"eq", "ne", "lt", "le", "gt", "ge"}));
  return m;
}
template <Handler H>
Handlers video(const Form& form) {
  return {H, H, true, modifiers(form).pack()};
}
template <Handler H>
Handlers video_set(const Form& form) {
  return {H, H, true, set_modifiers(form).pack()};
}

template <Op O>
constexpr auto scalar = video<scalar_handler<O>>;
template <Op O>
constexpr auto two = video<packed_handler<O, 2>>;
template <Op O>
constexpr auto four = video<packed_handler<O, 4>>;

#define RIDGE_TYPES "[%int32][%int32][%int32]"
#define RIDGE_CMP "[%int32][%int32][eq|ne|lt|le|gt|ge]"
constexpr Unit kAlu = Unit::alu;

constexpr Facts kNegates{.negates = true};
constexpr InstrDef kRows[] = {
    {"vadd" RIDGE_TYPES "{sat}", "d,a:1,b:2", kAlu, kRegs, scalar<Op::add>},
    // With c and no second operation: d has a selector, and the rest of d comes from c.
    {"vadd" RIDGE_TYPES "{sat}", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::add>},
    {"vadd" RIDGE_TYPES "{sat}[add|min|max]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::add>},
    {"vsub" RIDGE_TYPES "{sat}", "d,a:1,b:2", kAlu, kRegs, scalar<Op::sub>},
    {"vsub" RIDGE_TYPES "{sat}", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::sub>},
    {"vsub" RIDGE_TYPES "{sat}[add|min|max]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::sub>},
    {"vabsdiff" RIDGE_TYPES "{sat}", "d,a:1,b:2", kAlu, kRegs, scalar<Op::absdiff>},
    {"vabsdiff" RIDGE_TYPES "{sat}", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::absdiff>},
    {"vabsdiff" RIDGE_TYPES "{sat}[add|min|max]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::absdiff>},
    {"vmin" RIDGE_TYPES "{sat}", "d,a:1,b:2", kAlu, kRegs, scalar<Op::min>},
    {"vmin" RIDGE_TYPES "{sat}", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::min>},
    {"vmin" RIDGE_TYPES "{sat}[add|min|max]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::min>},
    {"vmax" RIDGE_TYPES "{sat}", "d,a:1,b:2", kAlu, kRegs, scalar<Op::max>},
    {"vmax" RIDGE_TYPES "{sat}", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::max>},
    {"vmax" RIDGE_TYPES "{sat}[add|min|max]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::max>},
    {"vshl[%int32][%int32][u32]{sat}[clamp|wrap]", "d,a:1,b:2", kAlu, kRegs, scalar<Op::shl>},
    {"vshl[%int32][%int32][u32]{sat}[clamp|wrap]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::shl>},
    {"vshl[%int32][%int32][u32]{sat}[clamp|wrap][add|min|max]", "d,a:1,b:2,c", kAlu, kRegs,
     scalar<Op::shl>},
    {"vshr[%int32][%int32][u32]{sat}[clamp|wrap]", "d,a:1,b:2", kAlu, kRegs, scalar<Op::shr>},
    {"vshr[%int32][%int32][u32]{sat}[clamp|wrap]", "d,a:1,b:2,c", kAlu, kRegs, scalar<Op::shr>},
    {"vshr[%int32][%int32][u32]{sat}[clamp|wrap][add|min|max]", "d,a:1,b:2,c", kAlu, kRegs,
     scalar<Op::shr>},
    {"vmad" RIDGE_TYPES "{po}{sat}{shr7|shr15}", "d,a:1,b:2,c", kAlu, kNegates,
     video<vmad_handler>},
    {"vset" RIDGE_CMP, "d:u32,a:0,b:1", kAlu, kRegs, video_set<scalar_handler<Op::set>>},
    {"vset" RIDGE_CMP, "d:u32,a:0,b:1,c:u32", kAlu, kRegs, video_set<scalar_handler<Op::set>>},
    {"vset" RIDGE_CMP "[add|min|max]", "d:u32,a:0,b:1,c:u32", kAlu, kRegs,
     video_set<scalar_handler<Op::set>>},
    {"vadd2" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, two<Op::add>},
    {"vsub2" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, two<Op::sub>},
    {"vavrg2" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, two<Op::avrg>},
    {"vabsdiff2" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, two<Op::absdiff>},
    {"vmin2" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, two<Op::min>},
    {"vmax2" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, two<Op::max>},
    {"vset2" RIDGE_CMP "{add}", "d:u32,a:0,b:1,c:u32", kAlu, kRegs,
     video_set<packed_handler<Op::set, 2>>},
    {"vadd4" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, four<Op::add>},
    {"vsub4" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, four<Op::sub>},
    {"vavrg4" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, four<Op::avrg>},
    {"vabsdiff4" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, four<Op::absdiff>},
    {"vmin4" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, four<Op::min>},
    {"vmax4" RIDGE_TYPES "{sat|add}", "d,a:1,b:2,c", kAlu, kRegs, four<Op::max>},
    {"vset4" RIDGE_CMP "{add}", "d:u32,a:0,b:1,c:u32", kAlu, kRegs,
     video_set<packed_handler<Op::set, 4>>},
};

}  // namespace

std::span<const InstrDef> video_rows() { return kRows; }

}  // namespace ridge::vm
