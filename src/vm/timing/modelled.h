// How long a piece of work takes by the model of time, for programs that ask for it themselves
// (include/ridge/vm_counters.h).
#pragma once

#include <string>
#include <vector>

#include "vm/timing/timekeeper.h"

namespace ridge::vm::timing {

// What is launched from here on is modelled, and runs only as far as that needs. The device is
// idle at both calls. `alone`: other observers do not hear of it.
void begin_modelling(const GpuSpec& gpu, bool alone = false);
struct Modelled {
  std::vector<LaunchTime> launches;
  double us = 0, low_us = 0, high_us = 0;  // between two events, behind a fill of `flushed` bytes
  std::string bound = {},
              why = {};  // of the longest launch; "link" if copies take longer than the kernels
  double graph_us = 0;   // as one of many in a graph; like `us` if none can hold it
};
Modelled end_modelling(double flushed);

}  // namespace ridge::vm::timing
