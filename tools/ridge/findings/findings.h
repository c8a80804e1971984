// What the software GPU found wrong with a program: read from the JSON lines it writes
// (src/vm/report/sink.h) and grouped by source lines.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "vm/report/finding.h"

namespace ridge::tools {

using vm::report::Finding;

struct Findings {
  std::vector<Finding> all;
  std::vector<Finding> suppressed;  // the user knows of them (suppress.h)
  uint64_t launches = 0;
  bool finished = false;  // the program came to its end, and what it leaves behind is known

  // Those of another run that are not here yet.
  void add(const Findings& other, uint64_t seed);
  bool has(std::string_view kind) const;
};

// Findings of the same two lines become one. An uninitialised read that is one side of a race is
// part of that race.
Findings read_findings(std::istream& in);

}  // namespace ridge::tools
