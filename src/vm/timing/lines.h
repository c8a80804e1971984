// The cache lines of global and local memory that an access touches.
#pragma once

#include <array>
#include <cstdint>

#include "vm/observe/plan.h"

namespace ridge::vm::timing {

struct Lines {
  struct Line {
    uint64_t first;   // its number
    uint32_t second;  // which of its sectors
  };
  // Where the device's memory begins, which lies elsewhere in every process: lines are counted from
  // there, so that a program has the same ones each time.
  uint64_t origin = 0;
  std::array<Line, 128> at;  // `count` of them are set: most accesses touch few
  uint32_t count = 0;
  bool wants_turns = false;
  uint32_t turns = 0;  // that the first cache takes to serve it

  void add(uint64_t first, uint64_t end) { add_lines(first - origin, end - origin); }
  void add_lines(uint64_t first, uint64_t end) {
    for (uint64_t sector = first / 32; sector * 32 < end; ++sector) {
      const uint64_t line = sector / 4;
      const uint32_t bit = 1u << sector % 4;
      uint32_t k = count;
      while (k && at[k - 1].first != line) --k;
      if (k) at[k - 1].second |= bit;
      else if (count < at.size()) at[count++] = {line, bit};
    }
  }
};

// None for an access to shared memory.
void collect(Lines& lines, const observe::Touch& touch, const Warp& w, const Inst* inst);

}  // namespace ridge::vm::timing
