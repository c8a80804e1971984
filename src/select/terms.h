// What the time of a call is made of, in the form in which `ridge tune` can fit it: counts of the
// call, each of which takes a constant number of microseconds that depends on the variant.
#pragma once

#include <algorithm>
#include <array>

namespace ridge {

constexpr double kNever = 1e30;  // the cost of a call that a variant cannot do

// Each rung says what its constants mean. The first is that of a launch. A rung that needs fewer
// leaves the counts of the others at 0.
constexpr int kTerms = 4;
using Constants = std::array<double, kTerms>;  // microseconds

struct Terms {
  Constants counts = {};  // of the call, one for each constant
  double memory_us = 0;   // all but the first term together take at least as long as the memory
  double besides_us = 0;  // what is not tuned, such as copies that come first
};
constexpr Terms kImpossible = {.besides_us = kNever};

constexpr double work_us(const Terms& terms, const Constants& constants) {
  double us = 0;
  for (int i = 1; i < kTerms; ++i) us += terms.counts[size_t(i)] * constants[size_t(i)];
  return us;
}
constexpr double predicted_us(const Terms& terms, const Constants& constants) {
  return terms.besides_us + terms.counts[0] * constants[0] +
         std::max(work_us(terms, constants), terms.memory_us);
}

}  // namespace ridge
