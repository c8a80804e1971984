// The accesses that wmma's loads and stores are made of.
#pragma once

#include <vector>

#include "vm/isa/wmma.h"
#include "vm/observe/access.h"

namespace ridge::vm::observe {

// One machine instruction: one or more words per lane, or, for matrices, rows of 16 bytes.
struct FragmentAccess {
  Access access;
  uint32_t matrices = 0;  // 0: by lanes
};

// ptxas moves factors of 8 and 16 bits from shared memory as matrices, eight lines of 16 bytes
// each; elsewhere every register is an access of its own, or pairs of 32-bit sums that are
// neighbours.
bool moves_matrices(const Match& match);
std::vector<FragmentAccess> accesses_of(const WmmaTile& tile, bool as_matrices);

}  // namespace ridge::vm::observe
