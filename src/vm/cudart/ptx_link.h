// Linking PTX, for programs built with -rdc=true: their fat binary holds one image per unit, and
// functions and variables of one are used in another.
//
// The parser resolves names within a module and knows what a later definition does to an earlier
// declaration, so linking is putting the texts one behind the other. What stands in the way is
// removed: the later units' headers, second copies of weak functions, file numbers that two units
// use for different files, and names that two units keep to themselves.
#pragma once

#include <string>
#include <vector>

namespace ridge::vm::cudart {

std::string link_ptx(const std::vector<std::string>& units);

}  // namespace ridge::vm::cudart
