// What an H200 makes of one wgmma, bit by bit: written for reading, not for speed.
#pragma once

#include "wgmma_case.h"

namespace ridge::hopper {

// One element of an operand as a number: significand * 2^scale, and the exponent that alignment
// looks at.
struct Factor {
  bool negative = false;
  uint32_t significand = 0;
  int scale = 0, exponent = 0;
  bool infinite = false, nan = false;
};
Factor factor_of(Kind kind, uint32_t bits);

struct Rule {
  int fraction;     // bits kept below the largest exponent
  int result_bits;  // of the significand's fraction in f32 results
};
Rule rule_of(Kind a);

// D of a whole instruction (or chain) as the kernel writes it: [register][thread].
std::vector<uint32_t> wgmma_result(const WgmmaCase& c, const std::vector<uint32_t>& input);

}  // namespace ridge::hopper
