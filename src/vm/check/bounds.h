// Which __shared__ array an access belongs to, if the code shows it.
#pragma once

#include <unordered_map>

#include "vm/decode/code.h"

namespace ridge::vm::check {

// For instructions that access shared memory at an address computed from one variable: that
// variable. Doubtful accesses are left out: memory declared without a size, addresses loaded from
// memory, and addresses that may belong to several variables.
std::unordered_map<const Instruction*, const Variable*> shared_arrays(const Code& code);

}  // namespace ridge::vm::check
