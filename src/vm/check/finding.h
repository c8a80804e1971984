// What was found: collected without repetition, written as JSON lines when first seen.
#pragma once

#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "vm/check/site.h"

namespace ridge::vm::check {

// One side of a hazard.
struct Party {
  uint32_t site = 0;  // 0: none
  std::string act;    // "write", "read", "atomic"
  std::string who;    // "thread (3,0,0) of block (0,0,0)"
};

// A change of the program's text that a fix means.
struct Edit {
  std::string file;
  uint32_t line = 0;
  std::string
      from;  // what to replace in that line; empty: `to` becomes a line of its own before it
  std::string to;
};

struct Finding {
  std::string kind;    // "race", "uninitialised" …
  std::string space;   // "shared", "global" or empty
  std::string kernel;  // demangled, without its parameters
  Party first, second;
  uint64_t address = 0;
  uint32_t bytes = 0;
  std::string memory;  // "tile + 12", "allocation #3 …"
  std::string what;    // a sentence
  std::string fix;
  std::string fix_kind;  // "syncthreads-between", "atomic" … (docs/check.md); empty: none
  std::vector<Edit> edits;
  std::string scope;   // of a race: "lanes", "block", "grid", "launches"
  bool draft = false;  // of a race: what is known at the end replaces it
  uint64_t count = 0;  // 0: told at the end
  // Where a fault's report has said it already.
  std::string file;
  uint32_t line = 0, other_line = 0;
};

class Findings {
 public:
  Findings(std::FILE* out, Sites& sites) : out_(out), sites_(sites) {}
  // True when there is none like it yet, so that it is worth while to make one; counts it
  // otherwise.
  bool is_new(const char* kind, uint32_t first_site, uint32_t second_site);
  void add(const Finding& finding);
  void drop_drafts();              // the final ones follow
  void finish(uint64_t launches);  // how often each was seen

 private:
  struct Seen {
    uint64_t id = 0, count = 0;
  };
  std::FILE* const out_;
  Sites& sites_;
  std::mutex mutex_;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, Seen> seen_;
  uint64_t next_id_ = 1;
  std::vector<Seen*> order_;
};

std::string demangled(const std::string& name);

}  // namespace ridge::vm::check
