#include "vm/exec/async.h"

#include <cstring>

#include "vm/decode/code.h"
#include "vm/exec/grid.h"
#include "vm/exec/warp.h"
#include "vm/isa/mbarrier.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

// A program that never waits must not fill the memory: its oldest copies land when there are more.
constexpr size_t kMostEntries = 1024;

// Reports speak of the instruction that started the copy, which may stand in another function than
// the one that waits.
template <class Report>
auto as_if_at(Warp& w, const AsyncEntry& entry, Report report) {
  Frame* running = w.frame;
  Frame there;
  there.code = entry.code;
  w.frame = &there;
  const auto result = report();
  w.frame = running;
  return result;
}
const Inst* raise_at(Warp& w, const AsyncEntry& entry, FaultKind kind, uint32_t lane,
                     uint64_t address, uint32_t size, const char* what) {
  return as_if_at(w, entry, [&] { return raise(w, entry.inst, kind, lane, address, size, what); });
}

// The source was there when the copy started; it may have been freed since.
bool source_is_there(Warp& w, const AsyncEntry& entry, int lane) {
  const uint64_t from = entry.source[lane];
  const uint32_t size = entry.source_bytes[lane];
  const auto home = w.worker->memory->find(from);
  return !size || (home && from + size <= home->end()) || as_if_at(w, entry, [&] {
    return passes_on_a_gpu(w, entry.inst, uint32_t(lane), from, size, "cp.async");
  });
}

template <int Bytes>
void land_lanes(const Warp& w, const AsyncEntry& entry, uint32_t lanes) {
  each_active(lanes, [&](int i) {
    uint8_t* to = w.shared + entry.destination[i];
    const uint8_t* from = w.worker->memory->place(entry.source[i]);
    const uint32_t size = entry.source_bytes[i];
    if (size == Bytes) {
      std::memcpy(to, from, Bytes);
    } else {
      if (size) std::memcpy(to, from, size);
      std::memset(to + size, 0, Bytes - size);
    }
  });
}

}  // namespace

AsyncEntry& AsyncQueue::push(Warp& w, AsyncEntry::Kind kind, uint32_t lanes, const Inst* inst) {
  if (entries_.size() - head_ >= kMostEntries) {
    for (size_t k = head_; k < head_ + kMostEntries / 2; ++k)
      if (entries_[k].kind == AsyncEntry::Kind::copy) land(w, entries_[k], entries_[k].lanes);
    arrive_unblocked(w, kAllLanes);
    drop_landed();
  }
  if (head_ && head_ >= entries_.size() / 2) {
    entries_.erase(entries_.begin(), entries_.begin() + long(head_));
    head_ = 0;
  }
  AsyncEntry& entry = entries_.emplace_back();
  entry.kind = kind;
  entry.lanes = lanes;
  entry.inst = inst;
  entry.code = w.frame->code;
  entry.epoch = w.worker->memory->epoch();
  return entry;
}

bool AsyncQueue::land(Warp& w, AsyncEntry& entry, uint32_t lanes) {
  lanes &= entry.lanes;
  if (!lanes) return true;
  entry.lanes &= ~lanes;
  if (w.worker->memory->epoch() != entry.epoch)
    for (uint32_t left = lanes; left; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (!source_is_there(w, entry, i))
        return raise_at(w, entry, FaultKind::illegal_address, uint32_t(i), entry.source[i],
                        entry.source_bytes[i], "cp.async");
    }
  if (Observer* watching = w.block->grid->observer) watching->copy_lands(w, entry, lanes);
  if (entry.kind == AsyncEntry::Kind::bulk) {
    each_active(lanes, [&](int i) {
      if (entry.source_bytes[i])
        std::memcpy(w.shared + entry.destination[i], w.worker->memory->place(entry.source[i]),
                    entry.source_bytes[i]);
    });
    return true;
  }
  switch (entry.bytes) {
    case 4: land_lanes<4>(w, entry, lanes); break;
    case 8: land_lanes<8>(w, entry, lanes); break;
    default: land_lanes<16>(w, entry, lanes);
  }
  return true;
}

// Arrivals whose lane has no copy before them any more.
bool AsyncQueue::arrive_unblocked(Warp& w, uint32_t lanes) {
  for (size_t k = head_; k < entries_.size() && lanes; ++k) {
    AsyncEntry& entry = entries_[k];
    if (entry.kind == AsyncEntry::Kind::copy) lanes &= ~entry.lanes;
    if (entry.kind != AsyncEntry::Kind::arrive) continue;
    for (uint32_t left = entry.lanes & lanes; left; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (const char* wrong = mbarrier::arrive(w, entry.destination[i], {.count = 1}))
        return raise_at(w, entry, FaultKind::trap, uint32_t(i), entry.destination[i], 0, wrong);
    }
    entry.lanes &= ~lanes;
  }
  return true;
}

void AsyncQueue::drop_landed() {
  while (head_ < entries_.size() &&
         (!entries_[head_].lanes || entries_[head_].kind == AsyncEntry::Kind::commit))
    ++head_;
  if (empty()) clear();
}

bool AsyncQueue::wait_groups(Warp& w, uint32_t lanes, uint32_t newest) {
  // How many of its groups each lane must see landed.
  uint32_t groups[kWarpSize] = {}, due = 0;
  for (size_t k = head_; k < entries_.size(); ++k)
    if (entries_[k].kind == AsyncEntry::Kind::commit)
      each_active(entries_[k].lanes & lanes, [&](int i) { ++groups[i]; });
  each_active(lanes, [&](int i) {
    due |= uint32_t(groups[i] > newest) << i;
    groups[i] -= newest;
  });
  for (size_t k = head_; k < entries_.size() && due; ++k) {
    AsyncEntry& entry = entries_[k];
    if (entry.kind == AsyncEntry::Kind::copy && !land(w, entry, due)) return false;
    if (entry.kind == AsyncEntry::Kind::commit)
      each_active(entry.lanes & due, [&](int i) { due &= ~(uint32_t(--groups[i] == 0) << i); });
  }
  const bool ok = arrive_unblocked(w, lanes);
  drop_landed();
  return ok;
}

bool AsyncQueue::wait_all(Warp& w, uint32_t lanes) {
  for (size_t k = head_; k < entries_.size(); ++k)
    if (entries_[k].kind == AsyncEntry::Kind::copy && !land(w, entries_[k], lanes)) return false;
  const bool ok = arrive_unblocked(w, lanes);
  drop_landed();
  return ok;
}

bool AsyncQueue::land_for_barrier(Warp& w, uint32_t barrier) {
  uint32_t waited = 0;  // lanes whose copies it waits for, up to their last arrival there
  for (size_t k = entries_.size(); k-- > head_;) {
    AsyncEntry& entry = entries_[k];
    if (entry.kind == AsyncEntry::Kind::arrive)
      each_active(entry.lanes,
                  [&](int i) { waited |= uint32_t(entry.destination[i] == barrier) << i; });
    if (entry.kind == AsyncEntry::Kind::copy && !land(w, entry, waited)) return false;
    if (entry.kind != AsyncEntry::Kind::bulk) continue;
    for (uint32_t left = entry.lanes; left; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (entry.barrier[i] != barrier) continue;
      if (!land(w, entry, 1u << i)) return false;
      if (const char* wrong = mbarrier::complete_tx(w, barrier, entry.source_bytes[i]))
        return raise_at(w, entry, FaultKind::trap, uint32_t(i), barrier, 0, wrong);
    }
  }
  const bool ok = arrive_unblocked(w, waited);
  drop_landed();
  return ok;
}

}  // namespace ridge::vm
