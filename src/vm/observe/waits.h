// Which instructions a warp waits for: those on the longest chain of results that need each other,
// one basic block at a time.
#pragma once

#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm::observe {

// By instruction of the function.
std::vector<bool> waits_of(const Function& function);

}  // namespace ridge::vm::observe
