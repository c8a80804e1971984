// Checked access: the slow half of every load, store and atomic.
#include <algorithm>

#include "vm/isa/memory.h"

namespace ridge::vm {

bool check_global(Warp& w, const Inst* inst, const uint64_t* address, int64_t offset, uint32_t bytes, const char* what) {
  uint64_t low = ~0ull, high = 0, misaligned = 0;
  each_active(w.mask, [&](int i) {
    const uint64_t at = address[i] + offset;
    low = std::min(low, at);
    high = std::max(high, at);
    misaligned |= at & (bytes - 1);
  });
  if (!misaligned && high + bytes > high) {
    if (range_is_known(w, inst, low, high + bytes) || check_range(w, inst, low, high + bytes)) return true;
  }
  // Lanes in different allocations, or a fault: one by one.
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t at = address[i] + offset;
    if (at & (bytes - 1)) {
      raise(w, inst, FaultKind::misaligned_address, i, at, bytes, what);
      return false;
    }
    if (at + bytes < at || !(range_is_known(w, inst, at, at + bytes) || check_range(w, inst, at, at + bytes))) {
      raise(w, inst, FaultKind::illegal_address, i, at, bytes, what);
      return false;
    }
  }
  return true;
}

bool check_window(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset, uint32_t bytes, uint32_t limit,
                  const char* what) {
  uint32_t high = 0, misaligned = 0;
  each_active(w.mask, [&](int i) {
    const uint32_t at = address[i] + offset;
    high = std::max(high, at);
    misaligned |= at & (bytes - 1);
  });
  if (!misaligned && uint64_t(high) + bytes <= limit) return true;
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint32_t at = address[i] + offset;
    if (at & (bytes - 1)) {
      raise(w, inst, FaultKind::misaligned_address, i, at, bytes, what);
      return false;
    }
    if (uint64_t(at) + bytes > limit) {
      raise(w, inst, FaultKind::illegal_address, i, at, bytes, what);
      return false;
    }
  }
  return true;
}

}  // namespace ridge::vm
