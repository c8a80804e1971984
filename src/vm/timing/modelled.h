// How long a piece of work takes by the model of time, for programs that ask for it themselves
// (include/ridge/vm_counters.h).
#pragma once

#include <string>
#include <vector>

#include "vm/timing/recorder.h"

namespace ridge::vm::timing {

// What is launched from here on is modelled, and runs only as far as that needs. The device is
// idle at both calls.
void begin_modelling();
std::vector<LaunchTime> end_modelling();

}  // namespace ridge::vm::timing
