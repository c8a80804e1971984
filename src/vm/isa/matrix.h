// Which element of which matrix a register of a fragment holds, for mma and wmma alike.
//
// The hardware multiplies 16 rows by 8 columns (8 by 8 in the oldest shapes). PTX's wider shapes
// are two such operations side by side; m8n32 is the transposed product, B's columns being the
// rows. So everything is said in terms of a row operand X and a column operand Y: D = X Y'.
#pragma once

#include "vm/isa/fragment.h"

namespace ridge::vm {

struct Geometry {
  bool transposed;         // X is B
  uint32_t rows, columns;  // of the product of X and Y
  uint32_t depth;

  explicit Geometry(const TensorForm& f)
      : transposed(f.m == 8 && f.n == 32),
        rows(transposed ? f.n : f.m),
        columns(transposed ? f.m : f.n),
        depth(f.k) {}
  uint32_t tiles() const { return rows == 8 ? 1 : rows / 16 * (columns / 8); }
};

// Where the first of the `per` elements lies that a lane's register `index` of an operand holds.
struct Place {
  uint32_t row, k;
};
inline Place place_in_rows(const Geometry& g, uint32_t depth, uint32_t per, uint32_t index,
                           uint32_t lane) {
  const uint32_t wide = 4 * per, steps = depth / wide, k = lane % 4 * per;
  if (g.rows == 8) return {lane / 4, index * wide + k};
  const uint32_t pair = index / 2;
  return {16 * (pair / steps) + 8 * (index % 2) + lane / 4, pair % steps * wide + k};
}
inline Place place_in_columns(const Geometry& g, uint32_t per, uint32_t index, uint32_t lane) {
  const uint32_t wide = 4 * per, steps = g.depth / wide;
  return {8 * (index / steps) + lane / 4, index % steps * wide + lane % 4 * per};
}

// Accumulators: registers of 32 and 64 bits hold one element, f16 ones two.
struct Position {
  uint32_t row, column;
};
inline Position place_in_sums(const Geometry& g, bool half, uint32_t index, uint32_t lane,
                              uint32_t part) {
  const uint32_t column = 2 * (lane % 4) + (half ? part : index % 2);
  const uint32_t block = half ? index : index / 2;  // of 8 rows and 8 columns
  if (g.rows == 8) return {lane / 4, column};
  const uint32_t tile = block / 2;
  return {8 * (block % 2) + lane / 4 + (g.columns == 8 ? 16 * tile : 0),
          column + (g.columns == 8 ? 0 : 8 * tile)};
}

inline uint32_t sum_registers(const Geometry& g, Element e) {
  const uint32_t full = g.rows * g.columns / 32;
  return e == Element::f16 ? full / 2 : full;
}

}  // namespace ridge::vm
