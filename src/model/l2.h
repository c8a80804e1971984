// The second cache, as far as it decides what comes from DRAM: lines of 128 bytes in sets, the
// least recently used one leaves.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::model {

// One line in so many stands for all, and a cache of that part of the size for the whole.
inline constexpr uint64_t kSampledOne = 16;
inline bool is_sampled(uint64_t line) {
  return (line * 0xd6e8feb86659fd93ull >> 40) % kSampledOne == 0;
}

class Cache {
 public:
  Cache(uint64_t bytes, uint32_t ways) : ways_(ways), sets_(bytes / 128 / ways) {
    lines_.resize(sets_ * ways_);
  }
  // Sectors of the line (masks of 4 bits) that were not there, that DRAM brings, which is two
  // neighbours at a time, and that were not written since they came.
  struct New {
    uint32_t missing, fetched, clean;
  };
  New access(uint64_t line, uint32_t sectors, bool writes) {
    Line* const set = &lines_[(line * 0x9e3779b97f4a7c15ull >> 20) % sets_ * ways_];
    ++now_;
    Line* found = set;
    for (uint32_t i = 0; i < ways_; ++i) {
      if (set[i].line == line + 1) {
        found = &set[i];
        break;
      }
      if (set[i].used < found->used) found = &set[i];
    }
    if (found->line != line + 1) *found = {.line = line + 1};
    const uint32_t missing = sectors & ~uint32_t(found->sectors);
    const uint32_t wanted = writes ? missing : in_pairs(missing) & ~uint32_t(found->sectors);
    const uint32_t clean = writes ? sectors & ~uint32_t(found->dirty) : 0;
    found->used = now_;
    found->sectors |= uint8_t(sectors | wanted);
    found->dirty |= uint8_t(clean);
    return {missing, wanted, clean};
  }

 private:
  struct Line {
    uint64_t line = 0, used = 0;
    uint8_t sectors = 0, dirty = 0;
  };
  static uint32_t in_pairs(uint32_t sectors) {
    const uint32_t low = (sectors | sectors >> 1) & 5;
    return low | low << 1;
  }

  uint64_t ways_, sets_, now_ = 0;
  std::vector<Line> lines_;
};

}  // namespace ridge::model
