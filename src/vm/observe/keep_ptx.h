// Keeps the PTX of every module that launched a kernel, for the profile: its text for programs
// without line information, and for ptxas, which knows registers and spills.
#pragma once

#include <string>

#include "vm/decode/program.h"

namespace ridge::vm::observe {

// Writes each module once, to its own file in the folder that RIDGE_PROFILE_PTX names, and returns
// its path. Empty: there is no such folder.
std::string keep_ptx(const Program& program);

}  // namespace ridge::vm::observe
