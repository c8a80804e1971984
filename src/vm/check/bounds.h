// Which __shared__ array an access belongs to, where the code says so.
#pragma once

#include <unordered_map>

#include "vm/decode/code.h"

namespace ridge::vm::check {

// Instructions that access shared memory at an address which was computed from one variable's: that
// variable. What is not known for certain is left out: memory that was declared without a size,
// addresses that came out of memory or are of one variable here and of another there.
std::unordered_map<const Instruction*, const Variable*> shared_arrays(const Code& code);

}  // namespace ridge::vm::check
