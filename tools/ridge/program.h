// A user's program on its way to a device: found, compiled where it is source, looked into,
// started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/status.h"
#include "process.h"
#include "target.h"
#include "verb.h"

namespace ridge::tools {

struct ProgramRequest {
  std::string file;  // a source, or a program
  std::string nvcc;  // more flags for nvcc
  Arguments arguments;
  double timeout = 0;  // seconds; 0: none
  bool quiet = false;
  bool watch = false;  // --watch
  // Where the files that it was compiled from are noted; null: nowhere.
  std::vector<std::filesystem::path>* inputs = nullptr;
};

bool is_source(const std::filesystem::path& path);

// Whether the file is there and --nvcc of use; an error suggests the nearest name.
Status check_request(const ProgramRequest& request);

// The command that runs it there: compiled by now, and with our libraries in front of all others
// where the device is the software GPU. An empty message: the compiler has said it all.
Expected<Command> command_for(const ProgramRequest& request, const Target& target);

// Says how it ended, unless well; the exit code that `ridge` should have.
int report_end(const Outcome& outcome, const ProgramRequest& request);

}  // namespace ridge::tools
