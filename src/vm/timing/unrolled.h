// Which loops ptxas unrolls, and how often.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm::timing {

class Uses;

inline constexpr uint8_t kAllTimes = 255;  // the loop's branch never comes

// By instruction of the function: how often the body of the innermost loop that it is in comes
// before the loop's branch. 1: not unrolled, or in no loop.
std::vector<uint8_t> unrolled(const Function& function, const Uses& uses);

}  // namespace ridge::vm::timing
