// Stops a kernel at an instruction that hardware calls illegal, and says what to do about it.
#pragma once

#include <string>

#include "vm/exec/grid.h"
#include "vm/exec/warp.h"

namespace ridge::vm {

// Returns false, so that a check can `return refuse(…)`.
inline bool refuse(Warp& w, const Inst* inst, int lane, const char* what, std::string fix) {
  const bool first = !w.worker->fault;
  raise(w, inst, FaultKind::illegal_instruction, uint32_t(lane), 0, 0, what);
  if (first) w.worker->fault.finding.fix = std::move(fix);
  return false;
}

}  // namespace ridge::vm
