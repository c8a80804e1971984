// nvcc with a cache: the same source, the same headers and the same flags are compiled once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/status.h"
#include "target.h"

namespace ridge::tools {

struct CompileRequest {
  std::filesystem::path source;
  std::string extra_flags;  // of --nvcc, as a shell would split them
  bool quiet = false;
  // A place for the list of files that the compiler read, even if it failed; null: no list.
  std::vector<std::filesystem::path>* inputs = nullptr;
};

// Returns the program. If nvcc fails, its messages have been printed already, and the message of
// the error is empty.
Expected<std::filesystem::path> compile(const CompileRequest& request, const Target& target);

}  // namespace ridge::tools
