// Checked access: the slow half of every load, store and atomic.
#include <algorithm>

#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

// Lowest and highest address of the active lanes, and the OR of them all. Inactive lanes are made
// to repeat an active one, so that the loop has no branches and becomes SIMD.
template <class A>
struct Span {
  A low, high, bits;
};
template <class A>
inline Span<A> span(uint32_t mask, const A* address, A offset) {
  const A any = address[__builtin_ctz(mask)];
  A low = ~A(0), high = 0, bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const A at = ((mask >> i) & 1 ? address[i] : any) + offset;
    low = std::min(low, at);
    high = std::max(high, at);
    bits |= at;
  }
  return {low, high, bits};
}

// Are all active lanes aligned, and in the range that `inst` was last seen to touch? Addresses are
// compared as signed numbers, which CPUs can do to several at once: memory has positive ones.
bool all_known(const Warp& w, const Inst* inst, const uint64_t* address, uint64_t offset,
               uint32_t bytes) {
  const CheckedRange& r = range_of(w, inst);
  const auto first = int64_t(r.begin), last = int64_t(r.end - bytes);
  const uint64_t any = address[__builtin_ctz(w.mask)];
  int64_t wrong = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const auto at = int64_t(((w.mask >> i) & 1 ? address[i] : any) + offset);
    wrong |= (at & int64_t(bytes - 1)) | (at < first ? -1 : 0) | (at > last ? -1 : 0);
  }
  return !wrong;
}

// Lane by lane, for the one to blame: aligned, and `inside(lane, at)`?
template <class A, class Inside>
bool check_lanes(Warp& w, const Inst* inst, const A* address, A offset, uint32_t bytes,
                 const char* what, Inside inside) {
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const A at = address[i] + offset;
    const bool misaligned = at & (bytes - 1);
    if (!misaligned && inside(i, at)) continue;
    raise(w, inst, misaligned ? FaultKind::misaligned_address : FaultKind::illegal_address,
          uint32_t(i), at, bytes, what);
    return false;
  }
  return true;
}

}  // namespace

GlobalPlaces check_global(Warp& w, const Inst* inst, const uint64_t* address, int64_t offset,
                          uint32_t bytes, const char* what) {
  if (!is_few(w.mask)) {
    if (all_known(w, inst, address, uint64_t(offset), bytes))
      return {address, uint64_t(offset) + range_of(w, inst).shift};
    const auto [low, high, bits] = span(w.mask, address, uint64_t(offset));
    if (!(bits & (bytes - 1)) && high + bytes > high && check_range(w, inst, low, high + bytes))
      return {address, uint64_t(offset) + range_of(w, inst).shift};
  }
  // Few lanes, lanes in different allocations, or outside of them.
  const auto inside = [&](int lane, uint64_t at) {
    if (at + bytes < at) return false;
    if (range_is_known(w, inst, at, at + bytes) || check_range(w, inst, at, at + bytes)) {
      w.worker->places[lane] = at + range_of(w, inst).shift;
      return true;
    }
    w.worker->places[lane] = at + w.worker->memory->shift(at);
    return passes_on_a_gpu(w, inst, uint32_t(lane), at, bytes, what);
  };
  if (!check_lanes(w, inst, address, uint64_t(offset), bytes, what, inside)) return {};
  return {w.worker->places, 0};
}

bool check_window(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset,
                  uint32_t bytes, uint32_t limit, const char* what) {
  if (!is_few(w.mask)) {
    const auto [low, high, bits] = span(w.mask, address, uint32_t(offset));
    if (!(bits & (bytes - 1)) && uint64_t(high) + bytes <= limit) return true;
  }
  return check_lanes(w, inst, address, uint32_t(offset), bytes, what,
                     [&](int, uint32_t at) { return uint64_t(at) + bytes <= limit; });
}

bool check_shared(Warp& w, const Inst* inst, int lane, uint32_t at, uint32_t bytes,
                  const char* what) {
  const uint32_t own = at - w.shared_start;
  if (uint64_t(own) + bytes <= w.shared_size) return true;
  if (own < kWindowSize || w.block->cluster->blocks.size() == 1) {
    raise(w, inst, FaultKind::illegal_address, uint32_t(lane), own, bytes, what);
    return false;
  }
  const char* wrong = wrong_shared(w, at, bytes);
  if (wrong) raise(w, inst, FaultKind::trap, uint32_t(lane), at, 0, wrong);
  return !wrong;
}

bool find_shared(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset, uint32_t bytes,
                 const char* what, uint8_t** places) {
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint32_t at = address[i] + uint32_t(offset), own = at - w.shared_start;
    if (at & (bytes - 1)) {
      raise(w, inst, FaultKind::misaligned_address, uint32_t(i), at, bytes, what);
      return false;
    }
    if (uint64_t(own) + bytes <= w.shared_size) {
      places[i] = w.shared + own;
      continue;
    }
    if (!check_shared(w, inst, i, at, bytes, what)) return false;
    places[i] = shared_place(w, at);
  }
  return true;
}

}  // namespace ridge::vm
