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
  // Where to note the files that the compiler read, also when it refused them; null: nowhere.
  std::vector<std::filesystem::path>* inputs = nullptr;
};

// The program. Where nvcc refuses, its words have already been passed on and the error's message is
// empty.
Expected<std::filesystem::path> compile(const CompileRequest& request, const Target& target);

}  // namespace ridge::tools
