// Findings: collected without repetition, and reported when first seen.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "vm/check/site.h"
#include "vm/report/finding.h"

namespace ridge::vm::check {

// One side of a hazard.
struct Party {
  uint32_t site = 0;  // 0: none
  std::string act;    // "write", "read", "atomic"
  std::string who;    // "thread (3,0,0) of block (0,0,0)"
};

// What mends a race between streams, be it of kernels or of copies.
inline constexpr const char* kOrderStreams =
    "record an event behind the one and let the other's stream wait for it "
    "(cudaStreamWaitEvent), or synchronise between them";

struct Finding {
  std::string kind;    // "race", "uninitialised" …
  std::string space;   // "shared", "global" or empty
  std::string kernel;  // demangled, without its parameters
  Party first, second;
  // One cause whatever stands there: is_new was asked with 0 in its place.
  bool any_first = false, any_second = false;
  uint64_t address = 0;
  uint32_t bytes = 0;
  std::string memory;              // "tile + 12", "allocation #3 …"
  std::string what;                // a sentence
  std::vector<std::string> notes;  // more of them
  std::string fix;
  std::string fix_kind;  // "syncthreads-between", "atomic" … (docs/check.md); empty: none
  std::vector<report::Edit> edits;
  std::string scope;  // of a race: "lanes", "block", "grid", "launches"
};

class Findings {
 public:
  explicit Findings(Sites& sites) : sites_(sites) {}
  // True if there is no finding like it yet, so that the caller should make one; otherwise it is
  // counted.
  bool is_new(const char* kind, uint32_t first_site, uint32_t second_site);
  void add(const Finding& finding);
  report::Finding told(const Finding& finding);  // with its places
  void finish(uint64_t launches);                // how often each was seen

 private:
  struct Seen {
    uint64_t id = 0, count = 0;
  };
  Sites& sites_;
  std::mutex mutex_;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, Seen> seen_;
  std::vector<Seen*> order_;
};

}  // namespace ridge::vm::check
