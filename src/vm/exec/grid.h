// One launch in flight, shared by the workers that run its blocks.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "vm/decode/program.h"
#include "vm/exec/children.h"
#include "vm/exec/dependence.h"
#include "vm/exec/observer.h"
#include "vm/exec/schedule.h"
#include "vm/exec/warp.h"

namespace ridge::vm {

struct GridRun {
  const Launch* launch = nullptr;
  const KernelCode* code = nullptr;
  const GpuSpec* gpu = nullptr;
  Engine* engine = nullptr;
  uint64_t id = 0;
  uint64_t blocks = 0;           // to run
  uint32_t cluster_size = 1;     // blocks
  uint64_t clusters = 0;         // to run
  std::vector<uint64_t> chosen;  // which, if not all of the launch
  std::vector<bool> has_run;     // by block, of those chosen before; empty before the first ones
  uint32_t shared_bytes = 0;     // a block, static and dynamic
  uint64_t workspace = 0;        // cooperative launches: the grid barrier's memory
  uint64_t extra_limit = 0;      // clusters that may be under way beside the one each worker runs
  bool counting = false;
  Dependence* dependence = nullptr;  // null: no grid before or behind it matters
  bool releases = false;             // its blocks may let dependent grids begin
  std::atomic<bool> waits{false};    // its prerequisites have not ended
  // Some block that would let dependent grids begin waits for blocks that have not started.
  std::atomic<bool> gathers{false};
  std::atomic<bool> may_gather{true};
  Observer* observer = nullptr;
  mutable Schedule schedule{Schedule::wanted_seed()};
  std::chrono::steady_clock::time_point start;

  bool in_order = false;          // on the launching thread alone
  uint64_t chunk = 1;             // clusters a worker takes at a time
  uint64_t workers = 1;           // at most
  std::atomic<bool> stop{false};  // a fault or the time limit: everybody leaves
  std::atomic<bool> timed_out{false};
  std::mutex mutex;  // guards fault
  Fault fault;       // the first one
  int helpers = 0;   // other threads at work on it; guarded by the engine's pool
  Children children;

  // Written by every worker all the time: on a cache line of their own, away from what all read.
  alignas(64) std::atomic<uint64_t> next{0};  // cluster to hand out
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> released{0};  // blocks that have let dependent grids begin, or have ended
  std::atomic<uint64_t> extra{0};     // clusters under way beside each worker's own
  std::atomic<uint64_t> warp_instructions{0}, thread_instructions{0};
};

// Runs blocks of the grid on this thread until none is left.
void work(GridRun& grid, unsigned index);

// stalled: all warps that could run only spin. waiting: none can run before another block does
// something.
enum class BlockState : uint8_t { done, stalled, waiting, stopped };
// Runs a block until it is done, or until it can do nothing alone.
BlockState run_block(Worker& worker, Block& block);

// Faults as findings (src/vm/exec/report.cpp).
report::Finding fault_finding(const Warp& w, const Inst* inst, FaultKind kind, uint32_t lane,
                              uint64_t address, uint32_t size, const char* what);
Fault fault_with_message(FaultKind kind, std::string message);  // without a place
report::Finding deadlock_finding(const Block& block);
report::Finding timeout_finding(const GridRun& grid, const Block* block);
std::string kernel_name(const GridRun& grid);

// Device printf (src/vm/exec/printf.cpp).
void device_printf(Warp& w, uint32_t lane, uint64_t format, uint64_t arguments);
void flush_device_printf();

}  // namespace ridge::vm
