// Counts what every instruction of every launch did: how often, with how many lanes, and what its
// memory accesses cost. One record per launch.
#pragma once

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/decode/program.h"
#include "vm/exec/engine.h"
#include "vm/exec/observer.h"
#include "vm/observe/counters.h"
#include "vm/observe/disassemble.h"
#include "vm/observe/plan.h"
#include "vm/observe/seen.h"

namespace ridge::vm::observe {

// The costliest access that was seen, for the picture and the advice.
struct Worst {
  uint64_t warps = 0;  // accesses that cost as much
  uint32_t cost = 0;   // sectors or wavefronts
  uint32_t mask = 0;
  std::array<uint64_t, 32> address;

  void meet(const Worst& other);
};

// The most even way in which the lanes of a warp parted at a branch.
struct Split {
  uint64_t warps = 0;    // that parted as evenly
  uint32_t smaller = 0;  // lanes that went the rarer way
  uint32_t mask = 0, taken = 0;

  void meet(const Split& other);
};

// One instruction of a finished launch.
struct InstructionProfile {
  std::string file;   // of the user's source; empty without line information
  uint32_t line = 0;  // in it
  struct Place {
    std::string file;
    uint32_t line = 0;
  };
  std::vector<Place> inlined_at;  // where that was inlined, the nearest first
  uint32_t ptx_line = 0;
  uint32_t merged_into = 0;  // a PTX line; 0: nothing
  uint32_t width = 0;        // bytes per lane that the machine moves
  bool unclear = false;      // machine code was read, but the width here is the model's
  bool waits = false;        // a warp waits for its result
  std::string mnemonic;
  Touch touch;
  TensorWork tensor;
  Unit unit = Unit::alu;
  Counters counters;
  Split split;
  Worst worst;
  // Accesses kept by the workers, to try changes on.
  std::vector<const Seen*> seen_global, seen_shared;
  uint64_t lowest = ~0ull, end = 0;  // bytes of global memory that were touched
  std::string function;              // the function without line information that it is in
};

// A variable in shared memory.
struct SharedArray {
  std::string name;
  uint32_t at = 0, bytes = 0;
};

struct LaunchProfile {
  std::string kernel;
  LaunchNotes notes;  // empty where no launcher has told
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  KernelUsage usage;
  uint64_t blocks = 0, blocks_run = 0;
  bool faulted = false;
  double sampling_error = 0;  // the standard error of scaled counters, as a part of them
  std::string not_sampled;    // why all blocks were run, where fewer were asked for
  bool machine_code =
      false;  // widths of accesses were read from it; otherwise they are the model's
  std::string no_machine_code;  // why they were not, where they were wanted
  std::string ptxas_said;       // the file with it
  std::vector<SharedArray> arrays;
  std::vector<InstructionProfile> instructions;  // those that ran, in the order of the PTX
};

class Profiler : public Observer {
 public:
  // Profiles go to `out` as launches end, as JSON lines. With `sample`, a launch of more blocks
  // runs that many of them only, chosen by `seed`.
  Profiler(std::FILE* out, uint64_t sample, uint64_t seed);
  ~Profiler() override;
  std::vector<uint64_t> choose(const GridRun& grid) override;
  void begin(const GridRun& grid, unsigned workers) override;
  Watch watch(const Warp& w) override;
  void before(const Warp& w, const Inst* inst) override;
  void end(const GridRun& grid) override;

  void finish() override;

 private:
  struct Tally;  // one function's, of one worker
  struct Run;    // a launch's
  Tally& tally(const Warp& w);
  static void keep_accesses(Tally& tally, const Code& code, const Run& run);
  std::shared_ptr<const Plan> plan(const Code& code, const GridRun& grid);

  std::FILE* const out_;
  const uint64_t sample_, seed_;
  std::mutex mutex_;
  std::unordered_map<const GridRun*, std::unique_ptr<Run>> runs_;
  std::map<std::string, uint64_t> launches_;  // by kernel and shape, of all that began
  // By the program's number, which is never used again, as an address may be.
  std::map<std::pair<uint64_t, const Code*>, std::shared_ptr<const Plan>> plans_;
  Disassembler disassembler_;
};

}  // namespace ridge::vm::observe
