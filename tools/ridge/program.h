// Prepares a user's program for a device: finds it, compiles it if it is source code, reads its ELF
// file, starts it.
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
  std::string file;    // a source, or a program
  std::string nvcc;    // more flags for nvcc
  std::string python;  // for a .py file; empty: the usual one
  Arguments arguments;
  double timeout = 0;  // seconds; 0: none
  bool quiet = false;
  bool watch = false;  // --watch
  // Where the files that it was compiled from are noted; null: nowhere.
  std::vector<std::filesystem::path>* inputs = nullptr;
};

// Whether the file exists and --nvcc makes sense; an error suggests the nearest name.
Status check_request(const ProgramRequest& request);

// The command that runs the program on that device. The program is compiled by now; if the device
// is the software GPU, our libraries come before all others. If the error message is empty, the
// compiler has printed its own.
Expected<Command> command_for(const ProgramRequest& request, const Target& target);

// Reports how the program ended, unless it ended well. Returns the exit code for `ridge`.
int report_end(const Outcome& outcome, const ProgramRequest& request);

}  // namespace ridge::tools
