// What ptxas makes of a function's memory instructions. PTX's accesses are not the machine's:
// neighbours become one wide access, and what nobody reads is left out or becomes a reduction.
// docs/agreement.md has the rules and where they come from.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "vm/exec/code.h"

namespace ridge::vm::observe {

struct MachineAccess {
  const Instruction* lead = nullptr;  // whose access this one is a part of; itself: it leads
  int32_t start = 0;                  // where the access starts, from the lead's own address
  uint8_t bytes = 0;                  // a lane
};

struct MachineCode {
  // Accesses that are not what PTX says. No lead: the machine has no such access at all.
  std::unordered_map<const Instruction*, MachineAccess> changed;
  std::unordered_set<const Instruction*> unread;  // atomics whose result nobody reads
};

// `optimised` is the module's: without, all remains as written.
MachineCode machine_code(const Function& function,
                         const std::unordered_map<const Variable*, uint32_t>& shared_offsets,
                         bool optimised);

}  // namespace ridge::vm::observe
