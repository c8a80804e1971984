// tensor_core.h's operation for 16 rows by up to 32 columns of ordinary values, on CPUs with AVX2:
// dense products of wgmma, in every floating-point format.
//
// A vector holds one row of D by the eight columns of a tile, the four even ones first, as two
// registers of a fragment have them side by side. So D needs no rearranging, an element of A is
// broadcast by the load that reads it, and a row of B serves all 16 rows.
#pragma once

#include <cstdint>

#include "vm/isa/fragment.h"
#include "vm/isa/tensor_core.h"

namespace ridge::vm::tensor {

// Columns of B whose exponents, in bytes, fill a vector.
inline constexpr uint32_t kGroupTiles = 4;

// Beside each value stands how far its exponent is below the largest one of the operand, `top`,
// which is biased like f32's; 255 beside a zero. So the least sum of two distances is the largest
// exponent of the products of one element of D.
struct alignas(32) RowFactors {
  float value[16][kDepth];
  uint32_t distance[16][kDepth];  // the same byte four times
  int top;
};
struct alignas(32) ColumnFactors {
  uint8_t distance[kDepth][8 * kGroupTiles];
  float value[kDepth][8 * kGroupTiles];  // of each tile the even columns, then the odd ones
  int top;
};

// From tiles as registers of a fragment hold them: A's four, or those of B's first `columns` tiles
// of eight columns, two along K for each. False where the CPU cannot do it, or an infinity or a NaN
// is among the values; the operand is then of no use.
bool load_factors(RowFactors& a, Element e, const uint32_t* const* tiles);
bool load_factors(ColumnFactors& b, Element e, const uint32_t* tiles, uint32_t columns);

struct GroupProduct {
  Element factors;  // A's or B's: both have the same number of bits
  bool half;        // C and D are f16, otherwise f32
  uint32_t tiles;   // at most kGroupTiles
  // Registers of C and D: four of each tile, or two of f16.
  const uint32_t* c[4 * kGroupTiles];
  uint32_t* d[4 * kGroupTiles];
};
// Bit 8 t + i of the result: rows i and i + 8 of tile t are not written, because this arithmetic
// does not do for them or for rows beside them. Some value of C is then infinite, a NaN or huge,
// exponents are more than about 60 apart or near the ends of f32's, or a sum has more than 31 bits.
uint32_t multiply_group(const RowFactors& a, const ColumnFactors& b, const GroupProduct& product);

}  // namespace ridge::vm::tensor
