// What ptxas makes of a function's memory instructions. PTX's accesses are not the machine's:
// neighbours become one wide access, and what nobody reads is left out or becomes a reduction.
// docs/agreement.md has the rules and where they come from.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vm/decode/code.h"
#include "vm/observe/atomics.h"

namespace ridge::vm::observe {

struct MachineAccess {
  const Instruction* lead = nullptr;  // whose access this one is a part of; itself: it leads
  int32_t start = 0;                  // where the access starts, from the lead's own address
  uint8_t bytes = 0;                  // per lane

  bool operator==(const MachineAccess&) const = default;
};

struct MachineCode {
  // What the machine does for each plain load and store: usually one access, none where the value
  // is at hand or not needed, several where the middle of a vector is not needed.
  std::unordered_map<const Instruction*, std::vector<MachineAccess>> changed;
  std::unordered_map<const Instruction*, MachineAtomic> atomics;
  // Instructions of a body short enough that the machine has no branch around it and predicates
  // them instead: the branch, which every warp passes that passes them.
  std::unordered_map<const Instruction*, const Instruction*> predicated;
  // Where machine code was read (follow.h): instructions for which it leaves open what is done.
  std::unordered_set<const Instruction*> unclear;
};

// `optimised` is the module's: without, all remains as written.
MachineCode machine_code(const Function& function,
                         const std::unordered_map<const Variable*, uint32_t>& shared_offsets,
                         bool optimised);

}  // namespace ridge::vm::observe
