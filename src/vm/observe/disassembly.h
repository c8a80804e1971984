// The memory accesses of machine code, as nvdisasm prints it with the PTX lines they came from.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/observe/wire.h"

namespace ridge::vm::observe {

struct MachineInstruction {
  Action action = Action::load;
  Reach reach = Reach::none;  // none: generic, each address says which memory it is
  bool matrices = false;      // LDSM, STSM
  bool compares = false;      // a compare-and-swap, which other atomics are made of, too
  uint8_t bytes = 0;          // per lane
};

// By PTX line. Code that no PTX line is given for is left out.
using Disassembly = std::unordered_map<uint32_t, std::vector<MachineInstruction>>;

// Reads what `nvdisasm -c -gp` printed; anything that is not a memory access is passed over.
Disassembly read_disassembly(std::string_view text);

}  // namespace ridge::vm::observe
