// The first cache of an SM, sector by sector. Who asks for a line that is on its way waits for the
// same answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ridge::model {

class FirstCache {
 public:
  explicit FirstCache(double bytes)
      : sets_(std::max<size_t>(1, size_t(bytes) / 128 / kWays)), lines_(sets_ * kWays) {}

  struct Line {
    uint64_t number = ~0ull;
    double used = -1;  // when it was last asked for
    double ready = 0;  // when its sectors are there
    uint8_t sectors = 0;
  };
  // The line, or room for it: the line that was not asked for the longest leaves.
  Line& find(uint64_t number, double now) {
    Line* const set = set_of(number);
    Line* oldest = set;
    for (int i = 0; i < kWays; ++i) {
      if (set[i].number == number) {
        set[i].used = now;
        return set[i];
      }
      if (set[i].used < oldest->used) oldest = &set[i];
    }
    *oldest = {number, now, now, 0};
    return *oldest;
  }
  // A store went past it.
  void drop(uint64_t number) {
    Line* const set = set_of(number);
    for (int i = 0; i < kWays; ++i)
      if (set[i].number == number) set[i] = {};
  }

 private:
  static constexpr int kWays = 8;
  Line* set_of(uint64_t number) {
    return &lines_[(number * 0x9e3779b97f4a7c15ull >> 32) % sets_ * kWays];
  }

  size_t sets_;
  std::vector<Line> lines_;
};

}  // namespace ridge::model
