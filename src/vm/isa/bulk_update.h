// What bulk and tensor copies share: which sizes they have, and what they do with the bytes at
// their destination.
#pragma once

#include "vm/exec/tolerate.h"
#include "vm/exec/warp.h"
#include "vm/isa/form.h"

namespace ridge::vm {

// A bulk copy's size is a multiple of 16 below 2^20. Of others hardware uses bits 4 to 19 and says
// nothing; that is always a bug, so it is told, and a fault where nobody tolerates it. False after
// raising it.
inline bool check_bulk_size(Warp& w, const Inst* inst, int lane, uint32_t& bytes) {
  constexpr uint32_t kBits = 0xffff0;
  if ((bytes & ~kBits) == 0) return true;
  if (!bulk_size_passes_on_a_gpu(w, inst, uint32_t(lane), bytes))
    return raise(w, inst, FaultKind::bulk_size, uint32_t(lane), bytes, 0, "");
  bytes &= kBits;
  return true;
}

// A reduction; null where the operation does not exist for the type. `flushes`: additions of f32
// take subnormals for zeros.
BulkUpdate bulk_update(Operation operation, Type type, bool flushes = false);

}  // namespace ridge::vm
