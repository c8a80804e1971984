// A module as PTX text again: reading it back gives the same module. Positions, comments, debug
// sections and everything else the parser only steps over are gone; blocks are gone too, so that a
// name two blocks had gets a suffix.
#pragma once

#include <string>

#include "vm/parse/module.h"

namespace ridge::vm {

// Bodies that have not been read are copied as they are.
std::string print(const Module& module);

}  // namespace ridge::vm
