// The hot case of tensor_core.h's operation, straight from a fragment's registers: f16 or bf16,
// dense, a depth of 8 or 16, on CPUs with AVX-512.
//
// Lanes of a vector are four rows by the four even or the four odd columns, as C's registers hold
// them, so C and D need no rearranging.
#pragma once

#include <cstdint>

#include "vm/isa/lane.h"

namespace ridge::vm::tensor {

struct DenseProduct {
  uint32_t steps;                      // depth / 8
  uint32_t row_tiles, column_tiles;    // of 16 and 8; at most two tiles
  bool half_c, half_d;                 // f16, otherwise f32
  const uint32_t *a[8], *b[4], *c[8];  // registers, as the instruction lists them
  uint32_t* d[8];
};

// False, and nothing written, where the CPU cannot do it, or the values are not ordinary enough:
// infinities, NaNs, and exponents of bf16 far apart or near the ends of f32's.
template <Type K>
bool multiply_dense(const DenseProduct& product);

}  // namespace ridge::vm::tensor
