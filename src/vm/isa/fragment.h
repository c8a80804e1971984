// Fragments: how the lanes of a warp hold a matrix, and how instructions on them are encoded.
//
// Every 32-bit register of a fragment is a tile of eight rows, row-major in the order of the lanes:
// lane 4 r + t holds row r, elements t * p … t * p + p - 1 of the p = 32 / bits that fit into it
// (64-bit elements: one per lane). So the register's 128 bytes, as they lie in the frame, are the
// tile. Tiles of a 16-row operand come in pairs, rows 0-7 and 8-15, and pairs follow each other
// along K. The second operand is held by columns: its tile has a column of B a row. Accumulators of
// 32 and 64 bits are split once more, into even columns and odd ones.
//
// An instruction on fragments has too many registers for Inst and Wide. Inst::d holds the row's
// flags, a and b the address, c the distance to the next instruction; all other operands, in the
// order written, fill the slots in between.
#pragma once

#include <optional>
#include <string_view>

#include "vm/isa/form.h"
#include "vm/isa/sync.h"

namespace ridge::vm {

inline const uint32_t* fragment_operands(const Inst* inst) {
  return reinterpret_cast<const uint32_t*>(inst + 1);
}
inline const Inst* after_fragments(const Inst* inst) { return inst + inst->c; }

// True when all 32 lanes execute `inst` together, as its .aligned demands. Waits for lanes that are
// elsewhere as other .sync instructions do; a lane that has exited is a fault. On false the handler
// returns nullptr.
bool whole_warp_slow(Warp& w, const Inst* inst);
inline bool whole_warp(Warp& w, const Inst* inst) {
  return w.mask == kAllLanes || whole_warp_slow(w, inst);
}

enum class Element : uint8_t { f16, bf16, tf32, f64, e4m3, e5m2, s8, u8, s4, u4, b1, f32, s32 };
constexpr int bits_of(Element e) {
  switch (e) {
    case Element::f64: return 64;
    case Element::f32:
    case Element::s32:
    case Element::tf32: return 32;
    case Element::f16:
    case Element::bf16: return 16;
    case Element::e4m3:
    case Element::e5m2:
    case Element::s8:
    case Element::u8: return 8;
    case Element::s4:
    case Element::u4: return 4;
    case Element::b1: return 1;
  }
  return 0;
}
constexpr bool is_integer(Element e) { return e >= Element::s8 && e <= Element::b1; }
constexpr bool is_signed(Element e) { return e == Element::s8 || e == Element::s4; }
std::optional<Element> element_from_name(std::string_view name);

// What a spelling says: its shape and its elements in the order written, in 32 bits for Inst::d.
struct TensorForm {
  uint32_t m = 0, n = 0, k = 0;
  Element d = Element::f32, a = Element::f16, b = Element::f16, c = Element::f32;
  uint32_t option = 0;  // satfinite, xor, rounding: as the handler reads it

  // Registers of the operands; `m` by `k` of A, and so on. wmma holds some twice.
  uint32_t a_registers() const { return registers(m * k, a); }
  uint32_t b_registers() const { return registers(k * n, b); }
  static uint32_t registers(uint32_t elements, Element e) {
    const int bits = bits_of(e);
    return bits == 64 ? elements / 32 : elements * uint32_t(bits) / 1024;
  }

  uint32_t pack() const {
    return m / 8 | n / 8 << 3 | k / 4 << 6 | uint32_t(a) << 13 | uint32_t(b) << 17 |
           uint32_t(c == Element::f16) << 21 | uint32_t(d == Element::f16) << 22 | option << 23;
  }
  static TensorForm unpack(uint32_t bits) {
    TensorForm f;
    f.m = 8 * (bits & 7);
    f.n = 8 * (bits >> 3 & 7);
    f.k = 4 * (bits >> 6 & 127);
    f.a = Element(bits >> 13 & 15);
    f.b = Element(bits >> 17 & 15);
    f.c = bits >> 21 & 1 ? Element::f16 : Element::f32;
    f.d = bits >> 22 & 1 ? Element::f16 : Element::f32;
    f.option = bits >> 23;
    return f;
  }
};
// Reads the shape ("m16n8k16"), and the types as d, a, b, c when there are four, d, a, b when there
// are three, d and c when there are two, and all four the same when there is one.
std::optional<TensorForm> tensor_form(const Form& form);

}  // namespace ridge::vm
