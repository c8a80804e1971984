#include "vm/cudart/host_arrays.h"

#include <algorithm>
#include <utility>

#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

// Owned; taken by the launch that follows. No smart pointer: a thread that starts to use one needs
// memory that it may not get.
thread_local LaunchNotes* next_launch = nullptr;

}  // namespace

Opened open_array(uint64_t base, uint64_t bytes, std::string name, bool unwritten) {
  Allocations& memory = runtime().engine.memory();
  if (!base || !bytes || memory.is_device_range(base)) return Opened::no;
  if (memory.rename(base, bytes, name)) return Opened::yes;
  uint64_t end = base + bytes;
  // What overlaps it shares memory with it, or is older than it.
  for (const Allocation& a : memory.live()) {
    if (a.end() <= base || a.base >= end) continue;
    if (a.kind != MemKind::registered) return Opened::no;
    if (a.base <= base && end <= a.end()) return Opened::as_a_part;
    memory.release(a.base, MemKind::registered);
    base = std::min(base, a.base), end = std::max(end, a.end());
  }
  const uint32_t flags = unwritten ? kStartsUnwritten : 0;
  return memory.add_registered(base, end - base, flags, std::move(name)) ? Opened::yes : Opened::no;
}

void close_array(uint64_t base) { runtime().engine.memory().release(base, MemKind::registered); }

void note_next_launch(LaunchNotes notes) {
  delete std::exchange(next_launch, new LaunchNotes(std::move(notes)));
}

LaunchNotesRef take_launch_notes() {
  return next_launch ? LaunchNotesRef(std::exchange(next_launch, nullptr)) : nullptr;
}

}  // namespace ridge::vm::cudart
