#include "vm/timing/lines.h"

#include <algorithm>
#include <bit>

#include "vm/observe/access.h"
#include "vm/observe/fragments.h"

namespace ridge::vm::timing {
namespace {

bool is_window(uint64_t address) { return (address - kSharedWindow) >> 32 < 3; }

// The first cache looks up so many lines at a time, and its data lie in the same banks as shared
// memory's; parts of a warp are served one after another.
constexpr uint32_t kLinesAtATime = 4;
void take_turns(Lines& lines, const observe::SharedAccess& access, uint32_t lines_before) {
  if (!access.mask || !lines.wants_turns) return;
  const uint32_t banks = shared_cost(access, observe::Service::store).wavefronts;
  const uint32_t looked_up = (lines.count - lines_before + kLinesAtATime - 1) / kLinesAtATime;
  lines.turns += std::max(banks, looked_up);
}

void collect_copy(Lines& lines, const Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const uint32_t bytes = w.src<uint32_t>(more.x[1])[0];
  const uint64_t* from = w.src<uint64_t>(inst->c);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const auto lane = uint32_t(std::countr_zero(left));
    if (more.x[2] != kNoOperand && !w.src<uint32_t>(more.x[2])[lane]) continue;
    const uint64_t at = from[lane] + uint64_t(int64_t(int32_t(more.x[0])));
    lines.add(at, at + bytes);
  }
  lines.turns = lines.count;
}

void collect_fragments(Lines& lines, const observe::Touch& touch, const Warp& w, const Inst* inst) {
  const WmmaTile tile = wmma_tile(w, inst);
  const bool shared = touch.generic ? is_window(tile.base) : touch.reach == observe::Reach::shared;
  if (shared) return;
  for (const observe::FragmentAccess& one : observe::accesses_of(tile, touch.matrices)) {
    observe::SharedAccess banks;
    banks.mask = one.access.mask;
    banks.bytes = one.access.bytes;
    const uint32_t before = lines.count;
    for (uint32_t left = one.access.mask; left; left &= left - 1) {
      const auto lane = size_t(std::countr_zero(left));
      const uint64_t at = one.access.address[lane];
      lines.add(at, at + one.access.bytes);
      banks.address[lane] = uint32_t(at);
    }
    take_turns(lines, banks, before);
  }
}

// Local memory holds a word of each lane side by side, then the next word of each. Where a warp's
// begins does not matter, as long as no other's is there.
void collect_local(Lines& lines, uint32_t lane, uint64_t at, uint32_t bytes, const Warp& w) {
  constexpr uint64_t kLocal = 1ull << 43, kMostLines = 1 << 14;  // of a warp
  const uint64_t of_warp = kLocal + (w.block->index * 32 + w.index) % (1 << 28) * kMostLines;
  for (uint64_t word = at / 4; word * 4 < at + bytes; ++word) {
    const uint64_t begin = (of_warp + word % kMostLines) * 128 + lane * 4;
    lines.add_lines(begin, begin + 4);
  }
}

// Whether lanes go to neighbouring places, one after the other.
bool is_row(const uint64_t* address, uint64_t bytes) {
  bool all = true;
  for (uint64_t lane = 0; lane < kWarpSize; ++lane)
    all &= address[lane] == address[0] + lane * bytes;
  return all;
}

void collect_lanes(Lines& lines, const observe::Touch& touch, const Warp& w, const Inst* inst) {
  using observe::Reach;
  const int64_t offset = int64_t(int32_t(inst->b)) + touch.offset;
  observe::SharedAccess banks;
  banks.bytes = touch.bytes;
  if (touch.reach == Reach::local) {
    const uint32_t* from = w.src<uint32_t>(inst->a);
    for (uint32_t left = w.mask; left; left &= left - 1) {
      const auto lane = uint32_t(std::countr_zero(left));
      collect_local(lines, lane, from[lane] + uint64_t(offset), touch.bytes, w);
    }
    lines.turns = lines.count;
    return;
  }
  if (touch.reach != Reach::global) return;
  const uint64_t* from = w.src<uint64_t>(inst->a);
  if (w.mask == kAllLanes && !lines.wants_turns && !touch.generic && is_row(from, touch.bytes)) {
    lines.add(from[0] + uint64_t(offset), from[kWarpSize - 1] + uint64_t(offset) + touch.bytes);
    return;
  }
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const auto lane = uint32_t(std::countr_zero(left));
    const uint64_t at = from[lane] + uint64_t(offset);
    const uint64_t window = (at - kSharedWindow) >> 32;
    if (touch.generic && window == 1) {
      collect_local(lines, lane, uint32_t(at), touch.bytes, w);
    } else if (!touch.generic || window > 2) {
      lines.add(at, at + touch.bytes);
      banks.mask |= 1u << lane;
      banks.address[lane] = uint32_t(at);
    }
  }
  take_turns(lines, banks, 0);
  if (lines.count) lines.turns = std::max(lines.turns, 1u);
}

}  // namespace

void collect(Lines& lines, const observe::Touch& touch, const Warp& w, const Inst* inst) {
  using Kind = observe::Touch::Kind;
  switch (touch.kind) {
    case Kind::copy: return collect_copy(lines, w, inst);
    case Kind::fragments: return collect_fragments(lines, touch, w, inst);
    case Kind::lanes: return collect_lanes(lines, touch, w, inst);
    default: return;
  }
}

}  // namespace ridge::vm::timing
