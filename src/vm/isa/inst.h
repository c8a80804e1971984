// A decoded instruction: two handlers and four operands in 32 bytes, so that an unrolled inner loop
// of a thousand instructions still fits the cache beside a warp's registers.
//
// A handler executes one instruction for a warp and returns the next one, or nullptr when the warp
// must be looked at by its scheduler (a divergent branch, a barrier, a fault). `full` may assume
// all 32 lanes are active; `masked` obeys Warp::mask. Instructions with more than four operands are
// *wide*: the 32 bytes that follow hold the rest.
#pragma once

#include <cstdint>

namespace ridge::vm {

struct Warp;
struct Inst;
using Handler = const Inst* (*)(Warp&, const Inst*);

inline constexpr int kWarpSize = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;

// A source operand is a byte offset into the frame's registers or, with this bit, into the constant
// vectors. Constants are stored as full vectors too, so no handler needs a second version for
// immediates.
inline constexpr uint32_t kConstantBit = 0x80000000u;

// A predicate source written "!%p".
inline constexpr uint32_t kNegatedBit = 0x40000000u;
// An optional operand that is not there (the q of p|q).
inline constexpr uint32_t kNoOperand = 0xffffffffu;

// Operand fields: the destination is d; sources fill a, b, c and then Wide::x[0], x[1] … in the
// order written; an optional second destination (p|q, d|p) takes the next field after the sources.
// Memory instructions: a is the address's base, b its constant offset (int32), d the (first) data
// register, c and x[0] … the rest, as memory.h says.
struct Inst {
  Handler full = nullptr;
  Handler masked = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0;
};
static_assert(sizeof(Inst) == 32);

// Operands five to eleven of a wide instruction, and its modifiers (rounding, saturation … as the
// row packs them).
struct Wide {
  uint32_t x[7] = {};
  uint32_t flags = 0;
};
static_assert(sizeof(Wide) == sizeof(Inst));

inline const Wide& wide(const Inst* inst) { return *reinterpret_cast<const Wide*>(inst + 1); }

}  // namespace ridge::vm
