// The PTX of every module that launched a kernel, kept for whoever shows a profile: its text for
// programs without line information, and for ptxas, which knows registers and spills.
#pragma once

#include <string>

#include "vm/decode/program.h"

namespace ridge::vm::observe {

// Once a module, as a file of its own in the folder that RIDGE_PROFILE_PTX names; its path. Empty:
// there is no such folder.
std::string keep_ptx(const Program& program);

}  // namespace ridge::vm::observe
