// --watch: runs a program again whenever its file changes, or a file that it is compiled from.
#pragma once

#include <functional>

#include "core/status.h"
#include "program.h"

namespace ridge::tools {

// Calls `once`; with --watch again and again until Ctrl-C is pressed, and waits for a change after
// each call. `request` is what `once` compiles; it has the list of files that the compiler read.
// Returns the exit code; says so where there is nothing to watch.
int run_or_watch(ProgramRequest& request, const std::function<int()>& once);

}  // namespace ridge::tools
