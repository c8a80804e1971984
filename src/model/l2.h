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
  // Sectors of the line (masks of 4 bits) that were not there, or not written since they came.
  struct New {
    uint32_t missing, clean;
  };
  New access(uint64_t line, uint32_t sectors, bool writes) {
    Line* const set = &lines_[(line * 0x9e3779b97f4a7c15ull >> 20) % sets_ * ways_];
    ++now_;
    Line* oldest = set;
    for (uint32_t i = 0; i < ways_; ++i) {
      if (set[i].line == line + 1) {
        const uint32_t missing = sectors & ~set[i].sectors;
        const uint32_t clean = writes ? sectors & ~set[i].dirty : 0;
        set[i].sectors |= uint8_t(sectors);
        set[i].dirty |= uint8_t(clean);
        set[i].used = now_;
        return {missing, clean};
      }
      if (set[i].used < oldest->used) oldest = &set[i];
    }
    const uint32_t dirty = writes ? sectors : 0;
    *oldest = {line + 1, now_, uint8_t(sectors), uint8_t(dirty)};
    return {sectors, dirty};
  }

 private:
  struct Line {
    uint64_t line = 0, used = 0;
    uint8_t sectors = 0, dirty = 0;
  };
  uint64_t ways_, sets_, now_ = 0;
  std::vector<Line> lines_;
};

}  // namespace ridge::model
