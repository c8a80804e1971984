// Numbers in sentences.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "profile/model.h"
#include "terminal.h"

namespace ridge::tools::profile {

// "1 thread", "1,024 threads".
inline std::string counted(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", thousands(count), noun, count == 1 ? "" : "s");
}

// The same for a counter, by its label: "1 warp instruction", "8 branches".
inline std::string counted(const Counters& counters, uint64_t Counters::*field) {
  std::string label;
  for (const Counter& counter : kCounters)
    if (counter.field == field) label = counter.label;
  if (counters.*field == 1) label.erase(label.size() - (label.ends_with("ches") ? 2 : 1));
  return fmt::format("{} {}", thousands(counters.*field), label);
}

// "a 2-way conflict", "an 8-way conflict": eight, eleven and eighteen begin with a vowel, and so do
// eighty and what follows.
inline const char* article(uint64_t number) {
  while (number >= 1000) number /= 1000;
  const bool vowel =
      number == 8 || number == 11 || number == 18 || number / 10 == 8 || number / 100 == 8;
  return vowel ? "an" : "a";
}

}  // namespace ridge::tools::profile
