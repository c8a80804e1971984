// What was counted while a program ran on the software GPU: kernels, their source lines, and the
// instructions of each line.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/occupancy.h"
#include "vm/observe/counters.h"
#include "vm/observe/wire.h"

namespace ridge::tools::profile {

using vm::observe::Action;
using vm::observe::Counter;
using vm::observe::Counters;
using vm::observe::kCounters;
using vm::observe::name_of;
using vm::observe::Reach;
using vm::observe::Source;
const char* noun_of(Action action);  // "loads"

// One access of one warp: the costliest that an instruction made.
struct Access {
  uint32_t mask = 0;
  uint32_t bytes = 4;
  std::array<uint64_t, 32> address = {};  // from `base`, which is kept as far as alignment needs it
  uint64_t base = 0;
  uint64_t cost = 0;   // sectors or wavefronts
  uint64_t warps = 0;  // accesses that cost as much
};

// What was kept of an instruction's accesses; addresses are whole.
struct Seen {
  std::vector<Access> sample;           // `warps`: accesses that it stands for
  std::map<uint32_t, Access> of_block;  // of one block: the first access of each warp
  // Of that block, at the whole line: requests, sectors moved, and sectors that it would move if a
  // tile of them were kept in shared memory.
  uint64_t requests = 0, moved = 0, once = 0;
};

// A branch that lanes of one warp took and others did not: the most even one.
struct Split {
  uint32_t mask = 0, taken = 0;
  uint64_t warps = 0;  // that split as evenly
};

struct Instruction {
  std::string ptx;
  uint32_t ptx_line = 0;
  std::string file;     // empty: no line information
  uint32_t line = 0;    // of the source: where a function of the toolkit's headers was called
  std::string library;  // that function's own place, "sm_60_atomic_functions.h:84"
  std::string unit;
  Reach reach = Reach::none;
  bool matrices = false;         // ldmatrix, stmatrix and what is made of them
  bool generic = false;          // which memory it reaches shows when it runs
  bool peers = false;            // which block's shared memory it reaches shows when it runs
  bool bulk = false;             // to other blocks of the cluster: by the copy engine
  Source source = Source::none;  // what it gives the tensor cores to multiply
  bool sparse = false;           // the same: half of the first matrix is left out
  bool warpgroup = false;        // the same: wgmma
  Action action = Action::load;
  uint32_t bytes = 0;        // a lane
  uint32_t width = 0;        // a lane, as the machine moves it: ptxas merges neighbours
  uint32_t merged_into = 0;  // the PTX line whose access does this one's work
  bool unclear = false;      // machine code was read, and leaves open what it does here
  bool waits = false;        // its result is on the longest chain of results that need each other
  Counters counters;
  std::optional<Access> worst;
  std::optional<Split> split;
  Seen seen_global, seen_shared;
  uint64_t lowest = 0, end = 0;  // bytes of global memory that it touched
  std::string function;          // of the toolkit, without lines of its own, that it is in
};

// A variable in shared memory; the dynamic part has no name.
struct SharedArray {
  std::string name;
  uint64_t at = 0, bytes = 0;
};

// A source line, or a PTX line where there is no line information.
struct Line {
  std::string file;
  uint32_t line = 0;
  std::string text;
  Counters counters;
  bool unclear = false;              // some width is the model's though machine code was read
  double cost = 0;                   // cycles of an SM (time.h)
  std::vector<size_t> instructions;  // of the kernel
};

struct Resources {
  uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
  uint32_t local_bytes = 0;                    // a thread
  uint32_t spill_stores = 0, spill_loads = 0;  // bytes, known from ptxas only
  uint32_t allocated = 0;                      // registers that a launch takes
  bool from_ptxas = false;                     // otherwise registers are an estimate
};

struct Size {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Size&) const = default;
};
std::string to_string(const Size& size);  // "8×8", "64"

// One launch, by the model of time (docs/model.md): between two events, with a cold L2.
struct ModelledTime {
  double us = 0, low_us = 0, high_us = 0;
  double own_us = 0;    // without what an empty launch takes
  std::string bound;    // "l2"
  std::string why;      // in a few words, where the model says more
  double busiest = 0;   // how much of its peak the busiest part of the GPU reaches
  double reached = 0;   // the same of the part that is the bound; 0: not known
  bool checked = true;  // the figures of the GPU were measured
  uint64_t launches = 0;
};

// All launches of one kernel with one shape.
struct Kernel {
  std::string mangled;
  std::string name;       // transpose_tile<float>
  std::string full_name;  // with its namespaces; or what a launcher above the driver calls it
  std::vector<std::string> tensors;  // behind its arguments, where a launcher has told
  uint64_t launches = 0;
  Size grid, block;
  uint64_t blocks = 0, blocks_run = 0;  // of all launches; fewer were run where it sampled
  std::string not_sampled;              // why all blocks ran though fewer were asked for
  bool faulted = false;
  bool machine_code = false;    // the widths of its accesses were read from it
  std::string no_machine_code;  // why not, where that was tried
  std::string ptxas_said;       // the file with it, where ptxas was asked during the run
  Resources resources;
  Occupancy occupancy;
  std::vector<SharedArray> arrays;
  std::vector<Instruction> instructions;  // in the order of the PTX
  std::vector<Line> lines;                // the costliest first
  Counters total;
  std::optional<ModelledTime> modelled;

  // The name without template arguments where they make it long: "DeviceScanKernel<…>".
  std::string short_name() const;
  bool sampled() const { return blocks_run < blocks && !faulted; }
  uint64_t warps_per_block() const { return (block.count() + 31) / 32; }
};

struct Profile {
  std::vector<Kernel> kernels;                              // in the order of their first launch
  std::map<std::string, std::vector<std::string>> sources;  // file → its lines
  std::map<std::string, std::vector<std::string>> ptx;  // mangled kernel → lines of its module
  std::map<std::string, std::string> ptx_files;         // mangled kernel → where those are
  bool nvdisasm = false;                                // was at hand
};

// Where the widths of accesses come from, in a sentence.
std::string widths_note(const Profile& profile);

}  // namespace ridge::tools::profile
