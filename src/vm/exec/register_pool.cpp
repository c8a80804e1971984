#include "vm/exec/register_pool.h"

#include <algorithm>

#include "vm/exec/grid.h"
#include "vm/isa/sync.h"

namespace ridge::vm {

void RegisterPool::start(const Warp& w) {
  warps_.resize(w.block->warps.size());
  for (PerWarp& warp : warps_) warp.held = w.block->grid->code->entry_registers;
}

bool RegisterPool::set(Warp& w, const Inst* inst, uint32_t count) {
  if (warps_.empty()) start(w);
  PerWarp& warp = warps_[w.index];
  if (!warp.wanted) warp.steps.push_back({inst, w.frame->code});
  warp.wanted = 0;
  if (count > warp.held) {
    const uint32_t more = (count - warp.held) * kWarpSize;
    if (more > free_) {
      warp.wanted = count;
      return false;
    }
    free_ -= more;
  } else {
    free_ += (warp.held - count) * kWarpSize;
  }
  const bool gives_back = count < warp.held;
  warp.held = count;
  warp.gave_back |= gives_back;
  if (gives_back) let_waiting_go(*w.block);
  return true;
}

bool RegisterPool::waits() const {
  return std::ranges::any_of(warps_, [](const PerWarp& warp) { return warp.wanted != 0; });
}

bool RegisterPool::is_hopeless(const Block& block) const {
  if (!waits()) return false;
  const bool any_gave =
      std::ranges::any_of(warps_, [](const PerWarp& warp) { return warp.gave_back; });
  return std::ranges::all_of(block.warps, [&](const Warp& w) {
    const PerWarp& warp = warps_[w.index];
    for (const Fragment& f : w.fragments)
      if (f.state >= Fragment::State::asleep) return false;  // it may yet make room
    return w.fragments.empty() || warp.wanted || warp.gave_back || !any_gave;
  });
}

// They ask again, each for itself.
void RegisterPool::let_waiting_go(Block& block) {
  for (Warp& w : block.warps)
    for (Fragment& f : w.fragments)
      if (f.state == Fragment::State::at_registers) f.state = Fragment::State::runnable;
}

bool RegisterPool::agrees(Block& block) const {
  for (Warp& w : block.warps) {
    const uint32_t first = w.index / kWarps * kWarps;
    const uint32_t end = std::min<uint32_t>(first + kWarps, uint32_t(warps_.size()));
    const std::vector<Step>& mine = warps_[w.index].steps;
    for (uint32_t other = first; other < end; ++other) {
      const std::vector<Step>& theirs = warps_[other].steps;
      const size_t both = std::min(mine.size(), theirs.size());
      size_t k = 0;
      while (k < both && mine[k].inst == theirs[k].inst) ++k;
      if (k == theirs.size()) continue;
      Frame there;
      there.code = theirs[k].code;
      w.frame = &there;
      raise(w, theirs[k].inst, FaultKind::registers, 0, 0, 0,
            "setmaxnreg that this warp has not executed, but other warps of its warpgroup have");
      w.frame = w.frames[0].get();
      return false;
    }
  }
  return true;
}

std::vector<std::string> RegisterPool::lines() const {
  std::vector<std::string> lines;
  for (uint32_t first = 0; first < warps_.size(); first += kWarps) {
    const uint32_t end = std::min<uint32_t>(first + kWarps, uint32_t(warps_.size()));
    std::string text = "warps " + std::to_string(first) + " to " + std::to_string(end - 1) + ":";
    uint32_t held = 0;
    for (uint32_t k = first; k < end; ++k) held += warps_[k].held;
    const bool same = held == warps_[first].held * (end - first);
    if (same) text += " " + std::to_string(warps_[first].held) + " registers per thread";
    else {
      text += " registers per thread";
      for (uint32_t k = first; k < end; ++k)
        text += (k > first ? ", " : " ") + std::to_string(warps_[k].held);
    }
    lines.push_back(text);
  }
  return lines;
}

const Inst* set_registers(Warp& w, const Inst* inst, const Inst* next, uint32_t count) {
  Block& block = *w.block;
  if (!block.grid->code->entry_registers || block.pool.set(w, inst, count)) return next;
  Fragment& f = w.fragments[w.current];
  f.state = Fragment::State::at_registers;
  f.pc = inst;  // to ask again
  w.stop = Stop::reschedule;
  return nullptr;
}

}  // namespace ridge::vm
