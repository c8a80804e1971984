// Contraction of multiplications with additions, as ptxas does it; docs/contraction.md has the
// rule.
#pragma once

#include "vm/decode/flow.h"

namespace ridge::vm {

// Replaces `mul t,a,b; add d,t,c` by `fma.rn d,a,b,c` where ptxas would. Instructions that no item
// came from are kept in `code`; registers they need are added to `registers`. Item indices change,
// and with them the targets of jumps and of `tables`.
void contract(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
              std::vector<Register>& registers, Code& code);

}  // namespace ridge::vm
