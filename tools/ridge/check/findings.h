// What the checker of the software GPU found, read from its JSON lines and grouped by source lines.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace ridge::tools::check {

// One of the two accesses of a hazard.
struct Party {
  std::string act, who;
  std::string file;  // empty without -lineinfo
  uint32_t line = 0;
  std::string inside;
  uint32_t ptx_line = 0;
  std::string ptx;
  bool there() const { return !act.empty(); }
};

// A change of the program's text that a fix means: `from` becomes `to` in the line; without `from`,
// `to` becomes a line of its own before it.
struct Edit {
  std::string file;
  uint32_t line = 0;
  std::string from, to;
};

struct Finding {
  std::string kind, space, kernel;
  Party first, second;
  std::string address, memory, what, fix;
  std::string fix_kind;  // docs/check.md names them
  std::vector<Edit> edits;
  std::string scope;   // of a race
  bool draft = false;  // the program did not come to its end: more might have been known
  std::string file;    // of a fault
  uint32_t line = 0, other_line = 0;
  uint64_t count = 1;
  uint64_t seed = 0;  // of the schedule that showed it; 0: the usual one
};

struct Findings {
  std::vector<Finding> all;
  uint64_t launches = 0;
  bool finished = false;  // the program came to its end, and what it leaves behind is known

  // Those of another run that are not here yet.
  void add(const Findings& other, uint64_t seed);
};

// Findings of the same two lines are one; an empty read that is one side of a race is that race.
Findings read_findings(std::istream& in);

}  // namespace ridge::tools::check
