// Python programs: which Python runs them, and how they get the software GPU
// (src/vm/driver/python).
#pragma once

#include <filesystem>
#include <string>

#include "core/status.h"
#include "process.h"
#include "program.h"
#include "target.h"

namespace ridge::tools {

bool is_python(const std::filesystem::path& file);

// The one that was asked for; else that of the active environment; else the one that Ridge has
// made; else python3 on PATH.
Expected<std::filesystem::path> find_python(const std::string& asked);
// Where `ridge python --install` makes one.
std::filesystem::path own_python_folder();

// The command that runs the program on that device.
Expected<Command> python_command(const ProgramRequest& request, const Target& target);

}  // namespace ridge::tools
