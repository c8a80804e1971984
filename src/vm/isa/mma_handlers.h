// What mma and wmma do once their spelling is understood: handlers by kind of element. Operands in
// the order d, a, b, c; sparse ones add the metadata and its selector.
#pragma once

#include "vm/isa/matrix.h"

namespace ridge::vm {

// TensorForm::option
inline constexpr uint32_t kSaturates = 1;    // integers
inline constexpr uint32_t kXor = 1;          // b1
inline constexpr uint32_t kRoundOption = 3;  // f64: a Round
inline constexpr uint32_t kWmma = 4;

// Registers of A and B: wmma's f16 fragments have eight, whatever the shape needs.
struct FragmentSizes {
  uint32_t d, a, b, c;
};
inline FragmentSizes fragment_sizes(const TensorForm& form, bool sparse = false) {
  const Geometry g(form);
  FragmentSizes sizes{sum_registers(g, form.d), form.a_registers(), form.b_registers(),
                      sum_registers(g, form.c)};
  if (sparse) sizes.a /= 2;
  if (form.option & kWmma && form.a == Element::f16) sizes.a = sizes.b = 8;
  return sizes;
}

Handler float_mma(const TensorForm& form);  // f16, bf16, tf32, e4m3, e5m2
Handler sparse_float_mma(const TensorForm& form);
Handler integer_mma(const TensorForm& form);  // s8, u8, s4, u4, b1
Handler sparse_integer_mma(const TensorForm& form);
Handler double_mma();
// m8n8k4 of f16: a product for each pair of quads. `form` has its layouts in option, bit 0 for a
// and bit 1 for b, set for row.
Handler quad_pair_mma(const TensorForm& form);

// The column that the stored element (row, stored) of a sparse A has.
class SparseColumns {
 public:
  SparseColumns(const TensorForm& form, const uint32_t* metadata, uint32_t selector)
      : metadata_(metadata), selector_(selector), bits_(bits_of(form.a)), k_(form.k) {}
  uint32_t operator()(uint32_t row, uint32_t stored) const;
  // How many selectors there are: which of the four lanes of a row hold its metadata.
  static uint32_t selectors(const TensorForm& form);

 private:
  const uint32_t* metadata_;
  uint32_t selector_;
  int bits_;
  uint32_t k_;
};

}  // namespace ridge::vm
