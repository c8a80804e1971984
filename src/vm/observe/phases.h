// The phases of mbarriers that warps wait for at one instruction. Who tries again waits no second
// time.
#pragma once

#include <bit>
#include <unordered_map>
#include <utility>

#include "vm/exec/grid.h"
#include "vm/isa/meanings.h"

namespace ridge::vm::observe {

class Phases {
 public:
  // Whether the wait that the warp is about to try is not the one that it tried last.
  bool is_new(const Match& match, const Warp& w, const Inst* inst) {
    constexpr size_t kMostWarps = 1 << 16;  // more than run at once
    if (last_.size() > kMostWarps) last_.clear();
    const auto lane = uint32_t(std::countr_zero(w.mask));
    const uint64_t phase = awaited_phase(match, w, inst, lane);
    const auto [known, fresh] = last_.try_emplace(w.block->index << 6 | w.index, phase);
    return fresh || std::exchange(known->second, phase) != phase;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> last_;  // by warp
};

}  // namespace ridge::vm::observe
