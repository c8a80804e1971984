// What an access of a warp adds to the counters.
#pragma once

#include "vm/observe/profile.h"

namespace ridge::vm::observe {

// The access that `inst` is about to make.
void count_touch(Counters& counters, const Touch& touch, const Warp& w, const Inst* inst);

}  // namespace ridge::vm::observe
