// wgmma.mma_async: what its spelling and its operands say, and the product itself.
#pragma once

#include "vm/isa/fragment.h"

namespace ridge::vm {

struct Product;

// What a spelling says, in 32 bits for Inst::d.
struct WgmmaForm {
  uint32_t n = 8;
  Element d = Element::f32, a = Element::f16, b = Element::f16;
  bool sparse = false, saturates = false;
  bool transposes_a = false, transposes_b = false;  // there is an operand that says whether

  static constexpr uint32_t kBytesOfA = 32;  // of one row
  uint32_t bytes_of_b() const { return sparse ? 64 : 32; }
  uint32_t d_registers() const { return d == Element::f16 ? n / 4 : n / 2; }
  bool has_scales() const { return !is_integer(a); }

  uint32_t pack() const {
    return n / 8 | uint32_t(d) << 6 | uint32_t(a) << 10 | uint32_t(b) << 14 |
           uint32_t(sparse) << 18 | uint32_t(saturates) << 19 | uint32_t(transposes_a) << 20 |
           uint32_t(transposes_b) << 21;
  }
  static WgmmaForm unpack(uint32_t bits) {
    WgmmaForm f;
    f.n = 8 * (bits & 63);
    f.d = Element(bits >> 6 & 15);
    f.a = Element(bits >> 10 & 15);
    f.b = Element(bits >> 14 & 15);
    f.sparse = bits >> 18 & 1;
    f.saturates = bits >> 19 & 1;
    f.transposes_a = bits >> 20 & 1;
    f.transposes_b = bits >> 21 & 1;
    return f;
  }
};

// The operands of one instruction, as it lists them (fragment.h).
struct WgmmaOperands {
  WgmmaForm form;
  const uint32_t* d;  // registers
  const uint32_t* a;  // four registers, or a descriptor's and three times kNoOperand
  uint32_t b;         // a descriptor's
  uint32_t metadata = kNoOperand, selector = 0;
  uint32_t adds;         // a predicate
  bool negates = false;  // exactly one of A and B
  bool transposed_a = false, transposed_b = false;

  explicit WgmmaOperands(const Inst* inst) : form(WgmmaForm::unpack(inst->d)) {
    const uint32_t* next = fragment_operands(inst);
    d = next;
    a = d + form.d_registers();
    next = a + 4;
    b = *next++;
    if (form.sparse) {
      metadata = *next++;
      selector = *next++;
    }
    adds = *next++;
    if (form.has_scales()) {
      negates = next[0] != next[1];
      next += 2;
    }
    if (form.transposes_a) transposed_a = *next++;
    if (form.transposes_b) transposed_b = *next++;
  }
  bool a_in_registers() const { return a[1] != kNoOperand; }
};

// Reads the operands in shared memory and writes the accumulator: the part of a product that this
// warp of its warpgroup has.
void make_product(const Warp& w, const Product& product);

}  // namespace ridge::vm
