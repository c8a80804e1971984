// Bitwise logic, shifts, and the permutation of bytes.
#include <algorithm>

#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

constexpr auto bit_and = []<class T>(T a, T b) { return T(a & b); };
constexpr auto bit_or = []<class T>(T a, T b) { return T(a | b); };
constexpr auto bit_xor = []<class T>(T a, T b) { return T(a ^ b); };
constexpr auto bit_not = []<class T>(T a) { return T(~a); };
constexpr auto cnot = []<class T>(T a) { return T(a == 0); };

// Predicates: 32 lanes are one word.
template <auto Op>
const Inst* pred_handler(Warp& w, const Inst* inst) {
  if constexpr (std::is_invocable_v<decltype(Op), uint32_t>)
    w.set_pred(inst->d, Op(w.pred(inst->a)));
  else w.set_pred(inst->d, Op(w.pred(inst->a), w.pred(inst->b)));
  return inst + 1;
}
template <auto Op>
Handlers bitwise(const Form& form) {
  if (form.type() == Type::pred) return {pred_handler<Op>, pred_handler<Op>};
  return lane<Bits, Op>(form);
}

// --- shifts: an amount past the width gives what the width gives ---

constexpr auto shl = []<class T>(T a, uint32_t n) { return n < 8 * sizeof(T) ? T(a << n) : T(0); };
constexpr auto shr = []<class T>(T a, uint32_t n) {
  if constexpr (std::is_signed_v<T>) return T(a >> std::min<uint32_t>(n, 8 * sizeof(T) - 1));
  else return n < 8 * sizeof(T) ? T(a >> n) : T(0);
};

using Shifted = TypeSet<Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16,
                        Type::s32, Type::s64>;

// 32 of the 64 bits b:a, from the left or from the right.
template <bool Left, bool Wrap>
constexpr auto shf = [](uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t n = Wrap ? c & 31 : std::min(c, 32u);
  const uint64_t both = uint64_t(b) << 32 | a;
  return Left ? uint32_t(both << n >> 32) : uint32_t(both >> n);
};

// --- lop3: any function of three bits ---

inline uint32_t lookup(uint32_t a, uint32_t b, uint32_t c, uint32_t lut) {
  // One mask per row of the truth table, the same for all lanes.
  const auto row = [&](int i) { return 0u - (lut >> i & 1); };
  const uint32_t low = (~b & ((~c & row(0)) | (c & row(1)))) | (b & ((~c & row(2)) | (c & row(3))));
  const uint32_t high =
      (~b & ((~c & row(4)) | (c & row(5)))) | (b & ((~c & row(6)) | (c & row(7))));
  return (~a & low) | (a & high);
}

template <bool Full>
const Inst* lop3_handler(Warp& w, const Inst* inst) {
  const uint32_t* a = w.src<uint32_t>(inst->a);
  const uint32_t* b = w.src<uint32_t>(inst->b);
  const uint32_t* c = w.src<uint32_t>(inst->c);
  const uint32_t lut = *w.src<uint32_t>(wide(inst).x[0]);
  each_lane<Full>(w.reg<uint32_t>(inst->d), w.mask,
                  [&](int i) { return lookup(a[i], b[i], c[i], lut); });
  return inst + 2;
}
Handlers select_lop3(const Form&) { return {lop3_handler<true>, lop3_handler<false>, true}; }

// d|p, a, b, c, lut, q: p = (d != 0) op q. The sources end at x[1]; p is x[2].
template <bool And, bool Full>
const Inst* lop3_bool_handler(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const uint32_t* a = w.src<uint32_t>(inst->a);
  const uint32_t* b = w.src<uint32_t>(inst->b);
  const uint32_t* c = w.src<uint32_t>(inst->c);
  const uint32_t lut = *w.src<uint32_t>(more.x[0]);
  const uint32_t q = w.pred(more.x[1]);
  uint32_t result[kWarpSize];
  each_lane<true>(result, kAllLanes, [&](int i) { return lookup(a[i], b[i], c[i], lut); });
  const uint32_t set = lane_bits([&](int i) { return result[i] != 0; });
  if (inst->d != kNoOperand)
    each_lane<Full>(w.reg<uint32_t>(inst->d), w.mask, [&](int i) { return result[i]; });
  if (more.x[2] != kNoOperand) w.set_pred(more.x[2], And ? set & q : set | q);
  return inst + 2;
}
Handlers select_lop3_bool(const Form& form) {
  if (form.has("and")) return {lop3_bool_handler<true, true>, lop3_bool_handler<true, false>, true};
  return {lop3_bool_handler<false, true>, lop3_bool_handler<false, false>, true};
}

// --- prmt: four bytes of the eight in b:a ---

constexpr uint32_t byte_of(uint64_t both, uint32_t index) {
  return uint32_t(both >> (8 * index)) & 0xff;
}

// A nibble of the selector picks a byte; its top bit asks for the byte's sign in all eight bits
// instead.
constexpr auto prmt = [](uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = uint64_t(b) << 32 | a;
  uint32_t d = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t nibble = selector >> (4 * i) & 15;
    uint32_t byte = byte_of(both, nibble & 7);
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << (8 * i);
  }
  return d;
};

enum Permutation { f4e, b4e, rc8, ecl, ecr, rc16 };

// The named modes: for a selector of 0 … 3, the indices of the result's bytes, the highest first as
// in a hex number.
constexpr uint16_t kPermutations[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e: forward four extract
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e: backward
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8: replicate a byte
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl: clamp at the left edge
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr: at the right
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16: replicate a half
};
template <int Mode>
constexpr auto prmt_named = [](uint32_t a, uint32_t b, uint32_t selector) {
  return prmt(a, b, kPermutations[Mode][selector & 3]);
};

using B32 = TypeSet<Type::b32>;

constexpr InstrDef kRows[] = {
    {"and[%bits|pred]", "d,a,b", Unit::alu, kRegs, bitwise<bit_and>},
    {"or[%bits|pred]", "d,a,b", Unit::alu, kRegs, bitwise<bit_or>},
    {"xor[%bits|pred]", "d,a,b", Unit::alu, kRegs, bitwise<bit_xor>},
    {"not[%bits|pred]", "d,a", Unit::alu, kRegs, bitwise<bit_not>},
    {"cnot[%bits]", "d,a", Unit::alu, kRegs, lane<Bits, cnot>},
    {"lop3[b32]", "d,a,b,c,e:u32", Unit::alu, kRegs, select_lop3},
    {"lop3[and|or][b32]", "d|p,a,b,c,e:u32,f:pred", Unit::alu, kRegs, select_lop3_bool},
    {"shl[%bits]", "d,a,b:u32", Unit::alu, kRegs, lane_with<Bits, uint32_t, shl>},
    {"shr[%bits|%int]", "d,a,b:u32", Unit::alu, kRegs, lane_with<Shifted, uint32_t, shr>},
    {"shf[l][wrap][b32]", "d,a,b,c:u32", Unit::alu, kRegs, lane<B32, shf<true, true>>},
    {"shf[l][clamp][b32]", "d,a,b,c:u32", Unit::alu, kRegs, lane<B32, shf<true, false>>},
    {"shf[r][wrap][b32]", "d,a,b,c:u32", Unit::alu, kRegs, lane<B32, shf<false, true>>},
    {"shf[r][clamp][b32]", "d,a,b,c:u32", Unit::alu, kRegs, lane<B32, shf<false, false>>},
    {"prmt[b32]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt>},
    {"prmt[b32][f4e]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt_named<f4e>>},
    {"prmt[b32][b4e]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt_named<b4e>>},
    {"prmt[b32][rc8]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt_named<rc8>>},
    {"prmt[b32][ecl]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt_named<ecl>>},
    {"prmt[b32][ecr]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt_named<ecr>>},
    {"prmt[b32][rc16]", "d,a,b,c", Unit::alu, kRegs, lane<B32, prmt_named<rc16>>},
};

}  // namespace

std::span<const InstrDef> logic_rows() { return kRows; }

}  // namespace ridge::vm
