// What a warp issues next, in the order that ptxas gives its instructions: between two branches or
// barriers, loads as early as their addresses and earlier stores allow, then what needs them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/work.h"

namespace ridge::model {

struct Next {
  uint32_t op = 0;
  uint32_t loads = 0;                  // how many it comes after, each needing the one before
  const uint32_t* accesses = nullptr;  // in the stream; none: no lane is switched on
};

// Shared by the warps of an SM: the table that an ordering needs is as large as all registers.
class Ordering {
 public:
  explicit Ordering(const Work& work) : work_(work), known_(work.register_count) {}
  // Takes instructions from the stream at `at` up to the next branch or barrier; those of a short
  // loop as often as ptxas unrolls it.
  void take(const uint32_t*& at, const uint32_t* end, std::vector<Next>& chunk);

 private:
  uint32_t loads_before(const Op& op) const;

  const Work& work_;
  uint64_t chunk_ = 0;
  std::vector<std::pair<uint64_t, uint32_t>>
      known_;  // by register: in which chunk, after how many loads
};

}  // namespace ridge::model
