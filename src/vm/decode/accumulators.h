// Where the accumulators of wgmma lie, which are written long after the instruction.
//
// A product is made as late as at the wait for it (exec/products.h). Until then no other register
// may have the place of its accumulator. And nvcc moves accumulators from one register to another
// while products are under way: ptxas gives both the same register, so that the move is none, and
// so does the software GPU. A move that remains reads an accumulator that is still to be written.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/decode/flow.h"

namespace ridge::vm {

// Replaces registers among the items' defs and uses by those whose place they share, and adds the
// accumulators to the uses of what may write them. Returns the register that stands for each.
std::vector<int32_t> place_accumulators(std::vector<Item>& items, const FlowGraph& flow,
                                        const std::vector<Register>& registers);

}  // namespace ridge::vm
