// --watch: runs a program again whenever its file changes, or a file that it is compiled from.
#pragma once

#include <functional>

#include "core/status.h"
#include "program.h"

namespace ridge::tools {

// Calls `once`; with --watch until Ctrl-C is pressed, and waits for a change after each time.
// `request` is the one that `once` compiles: the files that the compiler read are noted in it. The
// exit code; what cannot be watched is told.
int run_or_watch(ProgramRequest& request, const std::function<int()>& once);

}  // namespace ridge::tools
