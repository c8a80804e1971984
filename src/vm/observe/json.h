// Profiles as JSON lines, one a launch: the wire to the command line.
#pragma once

#include <cstdio>
#include <span>

#include "vm/observe/profile.h"

namespace ridge::vm::observe {

void write_json(std::FILE* file, std::span<const LaunchProfile> launches);

}  // namespace ridge::vm::observe
