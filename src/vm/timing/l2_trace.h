// What the blocks of a launch ask of the second cache, and what they find there.
//
// Several threads run blocks, and which of them is ahead is chance. So what a block asks is kept
// apart until the block has ended, and blocks are looked at in the order of the launch, up to the
// one with which there is enough. The answer is the same for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/l2.h"
#include "model/work.h"

namespace ridge::vm::timing {

// An access to the second cache, and when: in which wave of blocks, how far the warp had come.
struct L2Access {
  uint64_t line;
  uint32_t wave, progress, op;
  uint8_t sectors;
  bool writes;
};

// What one block asked for.
struct L2Asked {
  std::vector<L2Access> some;  // one line in model::kSampledOne
  // Of a block of the first wave that is followed: all lines, as far as there is room.
  std::vector<L2Access> all;
  bool is_followed = false;
  uint32_t furthest = 0;  // progress of its warps
  struct Stored {
    double bytes = 0, sectors = 0;  // bytes of all lanes, and the sectors that they went to
  };
  std::unordered_map<uint32_t, Stored> stored;                       // by op
  std::unordered_map<uint32_t, std::unordered_set<uint64_t>> words;  // by op, of atomics
};

class L2Trace {
 public:
  static constexpr uint32_t kAnyProgress = ~0u;
  static constexpr uint64_t kAllBlocks = ~0ull;
  static constexpr double kFills = 3;  // of the second cache, after which it has seen enough

  // Blocks are numbered in the order of the launch; so many run at a time, and so many on one SM.
  void begin(uint64_t blocks, uint64_t wave, uint64_t per_sm, double l2_bytes);
  // From here on blocks before `end` count, and of their warps so many accesses each. Called while
  // no block runs.
  void extend(uint64_t end, uint32_t progress);
  // What blocks ask that were not looked at yet does not matter. Called while no block runs.
  void stop();

  // Whether what the block asks may matter.
  bool wants(uint64_t block) const { return block < end_ && block < stop_.load(); }
  bool has_enough() const { return stop_.load() != kAllBlocks; }
  size_t most_followed() const;  // accesses of one block that is followed
  // The block has ended.
  void take(uint64_t block, L2Asked asked);

  // Of the blocks that are followed: bytes of different lines, and how far their warps have come.
  double followed_bytes() const;
  uint32_t furthest() const;
  // Fills in what follows from all this in the work of the launch.
  void answer(model::Work& work);

 private:
  struct Words {
    std::unordered_set<uint64_t> some;
    uint64_t lowest = ~0ull;
  };
  void advance();
  void use(L2Asked& asked);
  void answer_later(model::Work& work);

  uint64_t blocks_ = 0, wave_ = 1, per_sm_ = 1;
  double l2_bytes_ = 0;
  uint64_t end_ = 0;
  uint32_t progress_ = kAnyProgress;
  std::atomic<uint64_t> stop_ = kAllBlocks;  // blocks from here on do not matter

  std::mutex mutex_;
  std::map<uint64_t, L2Asked> waiting_;  // that have ended, for those before them
  uint64_t next_ = 0;                    // to be looked at
  std::vector<L2Access> some_, all_;     // of those that were
  std::unordered_set<uint64_t> lines_;   // different ones among `some_`
  std::map<uint32_t, L2Asked::Stored> stored_;
  std::map<uint32_t, Words> words_;
};

}  // namespace ridge::vm::timing
