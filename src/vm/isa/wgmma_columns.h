// B of a dense wgmma on floating-point numbers, converted for the arithmetic on vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/isa/shared_operand.h"
#include "vm/isa/tensor_core_dense.h"
#include "vm/isa/tensor_core_rows.h"
#include "vm/isa/wgmma.h"

namespace ridge::vm {

// Eight rows, 16 bytes of K each, as a register of a fragment holds them.
struct alignas(64) Tile {
  uint32_t at[kWarpSize];
  // Element k of a row, counted from the tile's first; bits above it are not cleared.
  uint32_t element(uint32_t row, uint32_t k, uint32_t bits) const {
    const uint32_t bit = k * bits;
    return at[4 * row + bit / 32] >> bit % 32;
  }
};

struct ConvertedColumns {
  std::vector<Tile> tiles;  // two along K for each eight columns
  // One of the two: of each eight columns (f16 and bf16, if the CPU has AVX-512), or of each group.
  std::vector<tensor::DenseColumns> dense;
  std::vector<tensor::ColumnFactors> groups;
  std::vector<uint8_t> ordinary;  // which of them can be used
};

// The columns, good until the next call of this thread. The four warps of a warpgroup read the same
// B one after the other, so the last few matrices are kept; whether one still is what lies in
// shared memory is seen from its bytes.
const ConvertedColumns& convert_columns(const uint8_t* shared, uint64_t descriptor,
                                        const WgmmaOperands& operands);

}  // namespace ridge::vm
