// Which __shared__ array an access belongs to, or which argument of the kernel points to the memory
// it reaches, if the code shows it.
#pragma once

#include <unordered_map>

#include "vm/decode/code.h"

namespace ridge::vm::check {

// For instructions that access memory at an address computed from one variable in shared memory, or
// from one parameter of the kernel: that variable. Doubtful accesses are left out: memory declared
// without a size, addresses loaded from memory, and addresses that may belong to several variables.
std::unordered_map<const Instruction*, const Variable*> homes_of_accesses(const Code& code);

}  // namespace ridge::vm::check
