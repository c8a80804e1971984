// A launch's profile as JSON: the wire to the command line.
#pragma once

#include <cstdio>

#include "vm/observe/profile.h"

namespace ridge::vm::observe {

void write_json(std::FILE* file, const LaunchProfile& launch);

}  // namespace ridge::vm::observe
