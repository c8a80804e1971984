// What bulk and tensor copies share: which sizes they have, and what they do with the bytes at
// their destination.
#pragma once

#include "vm/exec/warp.h"
#include "vm/isa/form.h"

namespace ridge::vm {

// A bulk copy's size is a multiple of 16 below 2^20. Of others hardware uses bits 4 to 19 and says
// nothing; here that is a fault, because it is always a bug. False after raising it.
inline bool check_bulk_size(Warp& w, const Inst* inst, int lane, uint32_t bytes) {
  if (bytes % 16 == 0 && bytes >> 20 == 0) return true;
  return raise(w, inst, FaultKind::bulk_size, uint32_t(lane), bytes, 0, "");
}

// A reduction; null where the operation does not exist for the type. `flushes`: additions of f32
// take subnormals for zeros.
BulkUpdate bulk_update(Operation operation, Type type, bool flushes = false);

}  // namespace ridge::vm
