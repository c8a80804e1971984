// Copies to several blocks of a cluster at once: each block that receives one gets it at the same
// offset in its shared memory, and its barrier at the same offset is told the bytes. Each block has
// an asynchronous entry of its own, because each waits for its own barrier.
#pragma once

#include "vm/isa/memory.h"
#include "vm/isa/refuse.h"

namespace ridge::vm {

class Receivers {
 public:
  // One bit of `ranks` for each block; false after a fault.
  bool add(Warp& w, const Inst* inst, int lane, uint16_t ranks) {
    ranks_[lane] = ranks;
    all_ |= ranks;
    const size_t blocks = w.block->cluster->blocks.size();
    return !(uint32_t(ranks) >> blocks) ||
           refuse(w, inst, lane, "multicast to a block that the cluster does not have",
                  "the cluster has " + std::to_string(blocks) +
                      " blocks: set no other bits of the mask, or launch larger clusters");
  }

  // start(lanes, place): `place` turns an address into that of the same offset in the receiver.
  template <class Start>
  void each(uint32_t active, Start start) const {
    for (uint32_t left = all_; left; left &= left - 1) {
      const auto rank = uint32_t(__builtin_ctz(left));
      uint32_t lanes = 0;
      each_active(active, [&](int i) { lanes |= uint32_t(ranks_[i] >> rank & 1) << i; });
      start(lanes, [rank](uint32_t address) {
        return address % uint32_t(kWindowSize) | rank << kRankShift;
      });
    }
  }

 private:
  uint16_t ranks_[kWarpSize];  // of the active lanes
  uint32_t all_ = 0;
};

}  // namespace ridge::vm
