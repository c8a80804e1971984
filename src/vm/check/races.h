// Races, collected over the whole run: the same two statements may race between lanes here and
// between blocks there, and the fix depends on all of this.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/check/finding.h"
#include "vm/check/shape.h"
#include "vm/check/site.h"

namespace ridge::vm::check {

// How far apart the threads of a race are; the widest that was seen counts.
enum class Scope : uint8_t { lanes, block, cluster, grid, launches };

// What the PTX says about two instructions of one function.
struct Relation {
  bool known = false;
  // Whether control can flow from one to the other without passing a barrier of the block; and
  // without passing a synchronisation of the lanes, either.
  struct Ways {
    Listing::Paths to_second, to_first;
  };
  Ways past_barriers, past_meetings;
  bool one_loop = false;         // there is a loop around both
  std::optional<Update> update;  // the two are the read and the write (or two writes) of one
  bool in_place = false;         // the one writes what was computed from the other's value
  bool looked_at_again = false;
  bool claim = false;   // the write is one
  bool fences = false;  // the writer goes on to an atomic, through which others may learn of it
};

// One race as it happens.
struct Conflict {
  uint32_t first = 0, second = 0;  // sites
  bool first_writes = false, second_writes = false;
  Scope scope = Scope::lanes;
  std::optional<bool> same_turn;  // of the loops around them
  bool rows = false;              // threads of a block with the same threadIdx.x
  // Several threads have read the word. The last reader, with instruction `first`, was the writer
  // itself. Which instructions of the other threads read it is not known.
  bool several = false;
};

// Two instructions that race.
struct RacePair {
  Conflict widest;
  Relation relation;
  uint64_t count = 0;
  bool same_turn = false, other_turn = false;
  bool rows_only = true;
  bool named = false;      // both instructions are known to be those that race
  bool idle_rows = false;  // the kernel never asks for threadIdx.y and .z, and there are several
  Finding example;         // of the widest scope: places, threads, memory
  uint64_t id = 0;         // it was told under
  SiteInfo at_first, at_second;
};

class Races {
 public:
  Races(Sites& sites, Findings& findings) : sites_(sites), findings_(findings) {}

  // True if it adds something to what was seen of these two before; then `describe` is to be
  // called.
  bool see(const Conflict& conflict);
  bool knows(uint32_t first, uint32_t second);
  // The example of what `see` was told last of these two.
  void describe(const Conflict& conflict, const Finding& example, const KernelCode* kernel,
                bool several_rows);
  // All findings, each with what mends it.
  void finish();

 private:
  RacePair& pair_of(const Conflict& conflict);
  Relation relate(const RacePair& pair) const;

  Sites& sites_;
  Findings& findings_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<RacePair>> pairs_;
  std::vector<RacePair*> order_;
};

// What mends the races of two places, and the words for it.
struct Cause {
  std::vector<const RacePair*> pairs;
  Finding finding;
  // Where a barrier may go: behind `after` and before `before`, both of `file`.
  std::string file;
  uint32_t after = 0, before = 0;
  std::vector<uint32_t> places;
  bool between = false, loop_end = false;
  uint32_t end_of_loop = 0;
  std::string barrier;
  std::string otherwise;  // what else would do
};
Cause decide_cause(std::vector<const RacePair*> pairs);
// Causes that one barrier mends become one.
std::vector<Cause> join_causes(std::vector<Cause> causes);

}  // namespace ridge::vm::check
