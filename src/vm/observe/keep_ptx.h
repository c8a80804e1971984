// The PTX of every module that launched a kernel, kept for whoever shows a profile: its text for
// programs without line information, and for ptxas, which knows registers and spills.
#pragma once

#include "vm/parse/module.h"

namespace ridge::vm::observe {

// Once a module, as a file of its own in the folder that RIDGE_PROFILE_PTX names; without it
// nothing.
void keep_ptx(const Module& module);

}  // namespace ridge::vm::observe
