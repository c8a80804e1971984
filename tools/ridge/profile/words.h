// Numbers in sentences.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "terminal.h"

namespace ridge::tools::profile {

// "1 thread", "1,024 threads".
inline std::string counted(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", thousands(count), noun, count == 1 ? "" : "s");
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
