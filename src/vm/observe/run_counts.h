// Counters that follow from how often an instruction ran: nothing is done for them while it runs.
#pragma once

#include "vm/observe/counters.h"
#include "vm/observe/plan.h"

namespace ridge::vm::observe {

// Adds them, from counters.warps and counters.threads.
void add_run_counts(Counters& counters, const Entry& entry);

}  // namespace ridge::vm::observe
