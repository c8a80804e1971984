// Whether two modules say the same: everything but where in the text it stands.
#pragma once

#include <string>

#include "vm/parse/module.h"

namespace ridge::vm {

// Where they differ, or nothing. Bodies are compared where both are read. Names that two blocks of
// a body share, or share with the module, may differ: blocks are not kept.
std::string difference(const Module& a, const Module& b);

// Reads every body, prints, reads that, and compares; what differs, or what does not read, or
// nothing. Bodies that do not read stay as they are.
std::string round_trip(Module& module);

}  // namespace ridge::vm
