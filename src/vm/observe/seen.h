// What is kept of the accesses that one instruction makes, so that a change of layout or of the
// order of threads can be tried on them afterwards. The memory it takes is bounded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vm/observe/access.h"

namespace ridge::vm::observe {

struct SeenAccess {
  uint32_t warp = 0;  // in its block
  Access access;
};

// Sectors that a block has touched at a source line in the same iteration of a loop: a tile in
// shared memory would hold them. Each warp counts its own iterations, because on a GPU warps run
// side by side, and here one after the other.
using Tile = std::unordered_set<uint64_t>;

// The accesses of an instruction: a random choice of all of them, each with the same probability;
// and, for one block, the first access of every warp.
class Seen {
 public:
  // `most` accesses are kept. `block` is the one whose warps are looked at; instructions of one
  // line share the tile.
  Seen(size_t most, uint64_t block, std::shared_ptr<Tile> tile = std::make_shared<Tile>())
      : most_(most), block_(block), tile_(std::move(tile)) {}

  // The warp whose access comes next.
  void begin(uint64_t block, uint32_t warp) {
    in_block_ = block == block_;
    warp_ = warp;
  }
  template <class T>
  void take(const AccessOf<T>& access) {
    if (++count_ >= next_) keep(widened(access));
    if (in_block_ && turns_[warp_ % 32]++ == 0) of_block_.push_back({warp_, widened(access)});
  }
  // Sectors that the access moved, after `take`.
  void take_sectors(const Access& access, uint32_t sectors);

  uint64_t count() const { return count_; }
  const std::vector<Access>& sample() const { return sample_; }
  const std::vector<SeenAccess>& of_block() const { return of_block_; }

  // Of the block: requests, sectors moved, and sectors that a tile in shared memory would move; of
  // several instructions of a line, the first to touch a sector has it.
  struct Staging {
    uint64_t requests = 0, moved = 0, once = 0;
  };
  const Staging& staging() const { return staging_; }

 private:
  template <class T>
  static Access widened(const AccessOf<T>& access) {
    Access out;
    out.mask = access.mask;
    out.bytes = access.bytes;
    for (size_t i = 0; i < 32; ++i) out.address[i] = access.address[i];
    return out;
  }
  void keep(const Access& access);
  double chance();

  const size_t most_;
  const uint64_t block_;
  bool in_block_ = false;
  uint32_t warp_ = 0;
  uint64_t count_ = 0, next_ = 0, random_ = 0;
  double weight_ = 1;
  std::vector<Access> sample_;
  std::vector<SeenAccess> of_block_;
  std::array<uint32_t, 32> turns_ = {};  // of each warp of the block
  Staging staging_;
  std::shared_ptr<Tile> tile_;
};

// Which sectors of global memory a launch has read and written. All workers share it.
class Footprint {
 public:
  static constexpr uint64_t kPageBytes = 2 << 20;
  struct Page {
    std::array<std::atomic<uint64_t>, kPageBytes / kSectorBytes / 64> word = {};
  };
  // The page that was looked up last, one for each place that looks.
  struct Last {
    uint64_t number = ~0ull;
    Page* page = nullptr;
  };

  // How many of the access's sectors are touched for the first time.
  uint32_t touch(const Access& access, bool writes, Last& last);

 private:
  Page& page(uint64_t number);

  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace ridge::vm::observe
