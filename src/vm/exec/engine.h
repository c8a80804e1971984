// The software GPU as its runtime sees it: load PTX, look things up, launch a grid and wait for its
// result. Everything above (streams, events, error state, the CUDA ABI) is src/vm/cudart's;
// everything below is hidden here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/gpu_spec.h"
#include "core/status.h"
#include "vm/decode/kernel_info.h"
#include "vm/exec/launch_notes.h"
#include "vm/mem/allocations.h"
#include "vm/report/finding.h"
#include "vm/texture/object.h"

namespace ridge::vm {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

// Why a launch stopped. The runtime maps it to a cudaError_t.
enum class FaultKind : uint8_t {
  none,
  illegal_address,        // 700
  misaligned_address,     // 716
  invalid_address_space,  // 717
  invalid_pc,             // 718
  illegal_instruction,    // 715
  bulk_size,              // 715; hardware silently copies less than was asked for
  registers,              // 719: setmaxnreg by a part of a warpgroup, which PTX leaves undefined
  hardware_stack,         // 714
  assert_failed,          // 710
  trap,                   // 719 launch failure
  image,                  // 719: a texture or surface instruction
  timeout,                // 702
  out_of_memory,          // 2
  unsupported,            // 801
};
struct Fault {
  FaultKind kind = FaultKind::none;
  report::Finding finding;  // what to tell the user
  explicit operator bool() const { return kind != FaultKind::none; }
};

struct Program;    // a loaded module
struct Kernel;     // one entry of it
class Dependence;  // dependence.h

struct Launch {
  Kernel* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  std::vector<uint8_t> params;  // packed as KernelInfo says
  bool cooperative = false;
  Dim3 cluster;                   // blocks of a cluster
  bool explicit_cluster = false;  // the launch or the kernel names the size, be it 1
  LaunchNotesRef notes = {};      // null: there are none
};

struct EngineOptions {
  GpuSpec gpu;
  unsigned threads = 0;        // worker threads; 0: one per core
  double timeout_seconds = 0;  // 0: none
  bool progress = false;       // a progress line on stderr after two seconds
  bool closed = true;          // the host cannot touch the device's memory
  // A kernel's access outside every allocation is a fault even where a GPU has memory mapped.
  bool strict = true;
  // Pinned and managed memory can be closed to the host for a while (Allocations::guard).
  bool watched = false;
  // Hears of what passes where `strict` is off.
  std::function<void(const report::Finding&)> warn = {};
};

// Totals over all launches while counting is on (see observe/).
struct InstructionCounts {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
};

class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();

  const EngineOptions& options() const;
  const GpuSpec& gpu() const;
  Allocations& memory();
  texture::Objects& textures();  // and surfaces

  // Parses the module's top level, places its variables in memory and resolves their initialisers.
  // Without `optimise`, results are those of code that a compiler has left as it was written.
  Expected<Program*> load(std::string ptx, std::string name, bool optimise = true);
  void unload(Program* program);
  // Machine code that came with a program, for observers that look into it.
  void bring(Program* program, std::string machine_code);

  Kernel* find_kernel(Program* program, std::string_view name);
  std::vector<Kernel*> kernels(Program* program);
  struct Symbol {
    uint64_t address = 0;
    uint64_t size = 0;
  };
  // Address of a .global or .const variable; address 0 when there is none.
  Symbol find_variable(Program* program, std::string_view name);

  const KernelInfo& info(const Kernel* kernel);
  // Decodes the body on first use; an unknown instruction is the error.
  Expected<KernelUsage> usage(Kernel* kernel);

  // Runs the whole grid; returns when the last block is done. Safe from several threads at once.
  // `dependence` says what it has to do with the grids before and behind it; null: nothing.
  Fault run(const Launch& launch, Dependence* dependence = nullptr);

  // A line of a loaded program; true when none was told of it yet.
  using Line = std::tuple<uint64_t, uint32_t, uint32_t>;  // program, file, line
  bool is_first_warning(const Line& line);

  // Device malloc and free, from any launch. nullopt when the heap is full; false when the address
  // is not from it.
  std::optional<uint64_t> heap_allocate(uint64_t bytes);
  bool heap_release(uint64_t address);
  void set_heap_limit(uint64_t bytes);  // cudaLimitMallocHeapSize
  void release_memory();                // all of it, the heap's too

  // Device printf collects here; the runtime flushes at its synchronisation points (and the engine
  // when it grows large).
  void flush_printf();

  // Counting for benchmarks: off by default, and free when off.
  void set_counting(bool on);
  InstructionCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridge::vm
