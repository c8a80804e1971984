// Where ptxas does not do what PTX says, or PTX leaves open what to do; docs/contraction.md lists
// the cases.
#pragma once

#include "vm/decode/flow.h"

namespace ridge::vm {

// Rewrites such instructions so that they do what ptxas makes of them, foldings only where it
// optimises the module. Changes items, tables, registers and code as contract() does.
void follow_ptxas(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
                  std::vector<Register>& registers, Code& code);

}  // namespace ridge::vm
