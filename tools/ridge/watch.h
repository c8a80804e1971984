// --watch: runs a program again whenever its file changes, or a file that it is compiled from.
#pragma once

#include <functional>

#include "core/status.h"
#include "program.h"

namespace ridge::tools {

// Whether the request is one that can be watched.
Status check_watch(const ProgramRequest& request);

// Calls `once` again and again until Ctrl-C is pressed, and waits for a change after each call.
// `request` is what `once` compiles; it has the list of files that the compiler read.
int watch(ProgramRequest& request, const std::function<int()>& once);

}  // namespace ridge::tools
