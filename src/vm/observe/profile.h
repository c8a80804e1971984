// Counts what every instruction of every launch did: how often, with how many lanes, and what its
// memory accesses cost. One record a launch.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/exec/code.h"
#include "vm/exec/observer.h"

namespace ridge::vm::observe {

enum class Reach : uint8_t { none, global, shared, local };
enum class Action : uint8_t { load, store, reduction, atomic };

// What an instruction does to memory, read off its row once.
struct Site {
  Reach reach = Reach::none;
  bool generic = false;  // each lane's address says which memory it is
  Action action = Action::load;
  uint8_t bytes = 0;  // a lane
};

struct Counters {
  uint64_t warps = 0, threads = 0;  // instructions executed
  // Global and local memory.
  uint64_t requests = 0, sectors = 0, lines = 0, bytes_used = 0;
  // Shared memory.
  uint64_t shared_requests = 0, wavefronts = 0, ideal_wavefronts = 0;

  Counters& operator+=(const Counters& other);
};

// One instruction of a finished launch.
struct InstructionProfile {
  std::string file;   // of the user's source; empty without line information
  uint32_t line = 0;  // in it
  uint32_t ptx_line = 0;
  std::string mnemonic;
  Site site;
  Unit unit = Unit::alu;
  Counters counters;
};

struct LaunchProfile {
  std::string kernel;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  KernelUsage usage;
  std::vector<InstructionProfile> instructions;  // those that ran, in the order of the PTX
};

class Profiler : public Observer {
 public:
  explicit Profiler(std::FILE* out);  // where the profiles go in the end, as JSON lines
  ~Profiler() override;
  void begin(const GridRun& grid, unsigned workers) override;
  void before(const Warp& w, const Inst* inst) override;
  void end(const GridRun& grid) override;

  void finish() override;

 private:
  struct CodeSites;
  struct WorkerCounts;
  struct Run;
  std::FILE* const out_;
  std::mutex mutex_;
  std::unordered_map<const GridRun*, std::unique_ptr<Run>> runs_;
  std::vector<LaunchProfile> ended_;
};

}  // namespace ridge::vm::observe
