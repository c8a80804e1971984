// Where the value of a load can matter. nvcc turns `if (c) x = s[k]` into a load that all lanes
// execute and a selection by c: the lanes without c throw away what they loaded. Such a read counts
// only where the conditions hold under which the value is used.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vm/check/listing.h"
#include "vm/decode/code.h"

namespace ridge::vm::check {

// One register's worth of a load.
struct Speculated {
  uint32_t first_byte = 0, bytes = 0;
  // It matters only in lanes for which all of these predicates hold (kNegatedBit: do not hold).
  std::vector<uint32_t> predicates;
  // They are known before this instruction of the code is executed; 0: at the load already.
  uint32_t known_at = 0;
};

// By instruction of the code. Loads whose value always matters are not among them.
using SpeculatedLoads = std::unordered_map<uint32_t, std::vector<Speculated>>;
struct LoadToAsk {
  uint32_t inst = 0;
  uint32_t words = 0;  // of several loads in one (src/vm/decode/merge.cpp)
};
SpeculatedLoads find_speculated(const Code& code, const Listing& listing,
                                const std::vector<LoadToAsk>& loads);

}  // namespace ridge::vm::check
