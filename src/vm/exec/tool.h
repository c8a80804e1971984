// Runs a program of the CUDA toolkit from inside the user's process.
#pragma once

#include <string>
#include <vector>

namespace ridge::vm {

// Runs it with its words in files; why it failed, or nothing. We are a guest in the user's
// process: nobody else's child is waited for, and no signal handler is touched.
std::string run_tool(const std::vector<std::string>& command, const std::string& out,
                     const std::string& err);

}  // namespace ridge::vm
