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

// The memory was there when the copy started; it may have been freed since.
bool memory_is_there(Warp& w, const AsyncEntry& entry, int lane) {
  const uint64_t from = entry.global[lane];
  const uint32_t size = entry.size[lane];
  const auto home = w.worker->memory->find(from);
  return !size || (home && from + size <= home->end()) || as_if_at(w, entry, [&] {
    return passes_on_a_gpu(w, entry.inst, uint32_t(lane), from, size, "cp.async");
  });
}

template <int Bytes>
void land_lanes(const Warp& w, const AsyncEntry& entry, uint32_t lanes) {
  each_active(lanes, [&](int i) {
    uint8_t* to = w.shared + entry.shared[i];
    const uint8_t* from = w.worker->memory->place(entry.global[i]);
    const uint32_t size = entry.size[i];
    if (size == Bytes) {
      std::memcpy(to, from, Bytes);
    } else {
      if (size) std::memcpy(to, from, size);
      std::memset(to + size, 0, Bytes - size);
    }
  });
}

// A tensor copy's memory: what is not there any more is reported.
bool tensor_is_there(Warp& w, const AsyncEntry& entry, int lane) {
  TensorRow row;
  if (!find_missing_row(entry.tensors[size_t(lane)], *w.worker->memory, row)) return true;
  const uint64_t at = row.global + row.first;
  const uint32_t bytes = row.last - row.first;
  return as_if_at(w, entry, [&] {
    return passes_on_a_gpu(w, entry.inst, uint32_t(lane), at, bytes, "cp.async.bulk.tensor") ||
           raise(w, entry.inst, FaultKind::illegal_address, uint32_t(lane), at, bytes,
                 "cp.async.bulk.tensor");
  });
}

void land_tensors(const Warp& w, const AsyncEntry& entry, uint32_t lanes) {
  const Allocations& memory = *w.worker->memory;
  each_active(lanes, [&](int i) {
    const TensorCopy& copy = entry.tensors[size_t(i)];
    const bool held = !entry.held.empty() && !entry.held[size_t(i)].empty();
    if (copy.loads) land_tensor_load(copy, shared_place(w, entry.shared[i]) - copy.shared, memory);
    else
      land_tensor_store(copy, held ? entry.held[size_t(i)].data() : w.shared + copy.shared, memory);
  });
}

}  // namespace

AsyncEntry& AsyncQueue::push(Warp& w, AsyncEntry::Kind kind, uint32_t lanes, const Inst* inst) {
  if (entries_.size() - head_ >= kMostEntries) {
    for (size_t k = head_; k < head_ + kMostEntries / 2; ++k)
      if (entries_[k].kind == AsyncEntry::Kind::copy ||
          entries_[k].kind == AsyncEntry::Kind::bulk_store)
        land(w, entries_[k], entries_[k].lanes);
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

void AsyncQueue::started(const Warp& w, const AsyncEntry& entry) {
  if (Observer* watching = w.block->grid->observer) watching->copy_starts(w, entry);
}

bool AsyncQueue::land(Warp& w, AsyncEntry& entry, uint32_t lanes) {
  lanes &= entry.lanes;
  if (!lanes) return true;
  entry.lanes &= ~lanes;
  if (w.worker->memory->epoch() != entry.epoch && entry.kind != AsyncEntry::Kind::peer_store)
    for (uint32_t left = lanes; left; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (!entry.tensors.empty()) {
        if (!tensor_is_there(w, entry, i)) return false;
      } else if (!memory_is_there(w, entry, i))
        return raise_at(w, entry, FaultKind::illegal_address, uint32_t(i), entry.global[i],
                        entry.size[i], "cp.async");
    }
  if (Observer* watching = w.block->grid->observer) watching->copy_lands(w, entry, lanes);
  if (!entry.tensors.empty()) {
    land_tensors(w, entry, lanes);
    return true;
  }
  if (entry.kind == AsyncEntry::Kind::bulk_load) {
    each_active(lanes, [&](int i) {
      if (entry.size[i])
        std::memcpy(shared_place(w, entry.shared[i]), w.worker->memory->place(entry.global[i]),
                    entry.size[i]);
    });
    return true;
  }
  if (entry.kind == AsyncEntry::Kind::peer_store) {
    each_active(lanes, [&](int i) {
      const bool in_memory = entry.held.empty();
      entry.update(shared_place(w, entry.shared[i]),
                   in_memory ? w.shared + entry.global[i] : entry.held[size_t(i)].data(),
                   entry.size[i]);
    });
    return true;
  }
  if (entry.kind == AsyncEntry::Kind::bulk_store) {
    hold_sources(w, entry, lanes);
    each_active(lanes, [&](int i) {
      const std::vector<uint8_t>& held = entry.held[size_t(i)];
      if (!held.empty())
        entry.update(w.worker->memory->place(entry.global[i]), held.data(), uint32_t(held.size()));
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
      if (const char* wrong = mbarrier::arrive(w, entry.shared[i], {.count = 1}))
        return raise_at(w, entry, FaultKind::trap, uint32_t(i), entry.shared[i], 0, wrong);
    }
    entry.lanes &= ~lanes;
  }
  return true;
}

uint32_t AsyncQueue::hold_sources(const Warp& w, AsyncEntry& entry, uint32_t lanes) {
  if (entry.held.empty()) entry.held.resize(kWarpSize);
  uint32_t fresh = 0;
  each_active(lanes, [&](int i) {
    std::vector<uint8_t>& held = entry.held[size_t(i)];
    const uint8_t* from = w.shared + entry.shared[i];
    const uint64_t bytes =
        entry.tensors.empty() ? entry.size[i] : entry.tensors[size_t(i)].extent();
    if (!held.empty() || !bytes) return;
    held.assign(from, from + bytes);
    fresh |= 1u << i;
  });
  return fresh;
}

void AsyncQueue::drop_landed() {
  using Kind = AsyncEntry::Kind;
  while (head_ < entries_.size() &&
         (!entries_[head_].lanes || entries_[head_].kind == Kind::commit ||
          entries_[head_].kind == Kind::bulk_commit))
    ++head_;
  if (empty()) clear();
}

template <class Due>
bool AsyncQueue::each_due(uint32_t lanes, uint32_t newest, AsyncEntry::Kind kind,
                          AsyncEntry::Kind commit, Due due) {
  // How many of its groups each lane must see.
  uint32_t groups[kWarpSize] = {}, open = 0;
  for (size_t k = head_; k < entries_.size(); ++k)
    if (entries_[k].kind == commit)
      each_active(entries_[k].lanes & lanes, [&](int i) { ++groups[i]; });
  each_active(lanes, [&](int i) {
    open |= uint32_t(groups[i] > newest) << i;
    groups[i] -= newest;
  });
  for (size_t k = head_; k < entries_.size() && open; ++k) {
    AsyncEntry& entry = entries_[k];
    if (entry.kind == kind && !due(entry, open)) return false;
    if (entry.kind == commit)
      each_active(entry.lanes & open, [&](int i) { open &= ~(uint32_t(--groups[i] == 0) << i); });
  }
  return true;
}

bool AsyncQueue::wait_groups(Warp& w, uint32_t lanes, uint32_t newest) {
  if (!each_due(lanes, newest, AsyncEntry::Kind::copy, AsyncEntry::Kind::commit,
                [&](AsyncEntry& entry, uint32_t due) { return land(w, entry, due); }))
    return false;
  const bool ok = arrive_unblocked(w, lanes);
  drop_landed();
  return ok;
}

bool AsyncQueue::wait_bulk_groups(Warp& w, uint32_t lanes, uint32_t newest, bool only_read) {
  Observer* watching = w.block->grid->observer;
  const bool lands = !only_read || !watching || !watching->wants_late_stores();
  const bool ok = each_due(lanes, newest, AsyncEntry::Kind::bulk_store,
                           AsyncEntry::Kind::bulk_commit, [&](AsyncEntry& entry, uint32_t due) {
                             if (lands) return land(w, entry, due);
                             const uint32_t read = hold_sources(w, entry, due & entry.lanes);
                             if (read) watching->copy_has_read(w, entry, read);
                             return true;
                           });
  if (ok && lands) drop_landed();
  return ok;
}

bool AsyncQueue::finish(Warp& w) {
  for (size_t k = head_; k < entries_.size(); ++k)
    if (entries_[k].kind == AsyncEntry::Kind::bulk_store && !land(w, entries_[k], kAllLanes))
      return false;
  return true;
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
      each_active(entry.lanes, [&](int i) { waited |= uint32_t(entry.shared[i] == barrier) << i; });
    if (entry.kind == AsyncEntry::Kind::copy && !land(w, entry, waited)) return false;
    if (entry.kind != AsyncEntry::Kind::bulk_load && entry.kind != AsyncEntry::Kind::peer_store)
      continue;
    for (uint32_t left = entry.lanes; left; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (entry.barrier[i] != barrier) continue;
      if (!land(w, entry, 1u << i)) return false;
      if (const char* wrong = mbarrier::complete_tx(w, barrier, entry.size[i]))
        return raise_at(w, entry, FaultKind::trap, uint32_t(i), barrier, 0, wrong);
    }
  }
  const bool ok = arrive_unblocked(w, waited);
  drop_landed();
  return ok;
}

}  // namespace ridge::vm
