// The model of ptxas's accesses, set right by the machine code where that is at hand.
#pragma once

#include "vm/observe/disassembly.h"
#include "vm/observe/machine.h"

namespace ridge::vm::observe {

// What the machine code has at each PTX line decides. Where the model says the same it stays;
// where the machine code leaves open what is done for an instruction (copies of it in unrolled
// loops have several widths, or its code is shared with another's) it stays, too, and the
// instruction is put into `code.unclear`.
void follow(MachineCode& code, const Function& function,
            const std::unordered_map<const Variable*, uint32_t>& shared_offsets,
            const Disassembly& machine);

}  // namespace ridge::vm::observe
