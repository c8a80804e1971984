// The engine: programs, the pool of worker threads, and the watch over running launches.
#include "vm/exec/engine.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <list>
#include <thread>

#include "core/occupancy.h"
#include "vm/exec/grid.h"
#include "vm/exec/program.h"
#include "vm/exec/watch.h"

namespace ridge::vm {
namespace {

uint64_t host_memory() {
  struct sysinfo info {};
  return sysinfo(&info) == 0 ? uint64_t(info.totalram) * info.mem_unit : 1ull << 32;
}
// A program may allocate what the GPU it asked for has, but not more than this machine can hold.
uint64_t capacity_for(const GpuSpec& gpu) {
  return std::min<uint64_t>(uint64_t(gpu.memory_bytes), host_memory() / 10 * 9);
}
// Workers take several blocks at a time where there are many, few enough that they finish together.
constexpr uint64_t kChunksPerWorker = 64;
constexpr uint64_t kMostBlocksAChunk = 8;
constexpr uint64_t kWorkspaceBytes = 4096;  // cooperative launches: the grid barrier and its kin

}  // namespace

struct Engine::Impl {
  EngineOptions options;
  Allocations memory;
  texture::Objects textures;
  std::mutex mutex;
  std::list<std::unique_ptr<Program>> programs;
  uint64_t next_id = 1;
  std::atomic<bool> counting{false};
  std::atomic<uint64_t> warp_instructions{0}, thread_instructions{0}, next_grid{1};

  // Threads that help whichever launch has blocks left.
  std::vector<std::thread> helpers;
  std::mutex pool_mutex;
  std::condition_variable wake, idle;
  std::list<GridRun*> wanting;  // launches that want help
  std::unordered_map<GridRun*, int> helping;
  bool closing = false;
  Watch watch;

  explicit Impl(EngineOptions o)
      : options(o), memory(capacity_for(o.gpu)), watch(o.timeout_seconds, o.progress) {
    if (options.threads == 0) options.threads = std::max(1u, std::thread::hardware_concurrency());
  }
  ~Impl() {
    {
      const std::lock_guard lock(pool_mutex);
      closing = true;
    }
    wake.notify_all();
    for (std::thread& t : helpers) t.join();
  }

  void help(unsigned index) {
    std::unique_lock lock(pool_mutex);
    while (true) {
      wake.wait(lock, [&] { return closing || !wanting.empty(); });
      if (closing) return;
      GridRun* grid = wanting.front();
      ++helping[grid];
      // One more helper is enough for this launch once every block has been handed out.
      wanting.pop_front();
      if (grid->next.load() + 1 < grid->blocks) wanting.push_back(grid);
      lock.unlock();
      work(*grid, index);
      lock.lock();
      std::erase(wanting, grid);
      if (--helping[grid] == 0) helping.erase(grid);
      idle.notify_all();
    }
  }

  void run_on_all(GridRun& grid) {
    const bool parallel = options.threads > 1 && grid.blocks > 1;
    if (parallel) {
      const std::lock_guard lock(pool_mutex);
      while (helpers.size() + 1 < options.threads)
        helpers.emplace_back([this, index = unsigned(helpers.size()) + 1] { help(index); });
      wanting.push_back(&grid);
      wake.notify_all();
    }
    work(grid, 0);
    if (parallel) {
      std::unique_lock lock(pool_mutex);
      std::erase(wanting, &grid);
      idle.wait(lock, [&] { return !helping.count(&grid); });
    }
  }
};

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>(options)) {}
Engine::~Engine() = default;

const GpuSpec& Engine::gpu() const { return impl_->options.gpu; }
Allocations& Engine::memory() { return impl_->memory; }
texture::Objects& Engine::textures() { return impl_->textures; }

Expected<Program*> Engine::load(std::string ptx, std::string name, bool optimise) {
  auto module = parse_module(std::move(ptx), std::move(name));
  if (!module) return module.error();
  auto program = std::make_unique<Program>();
  program->module = std::move(*module);
  program->module->optimised &= optimise;
  {
    const std::lock_guard lock(impl_->mutex);
    program->id = impl_->next_id++;
  }
  if (Status placed = place_variables(*program, impl_->memory); !placed) return placed.error();
  for (Function& f : program->module->functions) {
    if (!f.entry || !f.defined) continue;
    auto kernel = std::make_unique<Kernel>();
    kernel->program = program.get();
    kernel->function = &f;
    kernel->info = describe(*program->module, f, impl_->options.gpu);
    program->kernels.push_back(std::move(kernel));
  }
  const std::lock_guard lock(impl_->mutex);
  impl_->programs.push_back(std::move(program));
  return impl_->programs.back().get();
}

void Engine::unload(Program* program) {
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [variable, address] : program->addresses)
    impl_->memory.release(address, MemKind::variable);
  std::erase_if(impl_->programs, [&](const auto& p) { return p.get() == program; });
}

Kernel* Engine::find_kernel(Program* program, std::string_view name) {
  for (const auto& kernel : program->kernels)
    if (kernel->info.name == name) return kernel.get();
  return nullptr;
}

std::vector<Kernel*> Engine::kernels(Program* program) {
  std::vector<Kernel*> all;
  for (const auto& kernel : program->kernels) all.push_back(kernel.get());
  return all;
}

Engine::Symbol Engine::find_variable(Program* program, std::string_view name) {
  const auto it = program->module->variable_by_name.find(name);
  if (it == program->module->variable_by_name.end()) return {};
  const auto home = program->addresses.find(it->second);
  if (home == program->addresses.end()) return {};
  return {home->second, it->second->size};
}

const KernelInfo& Engine::info(const Kernel* kernel) { return kernel->info; }

Expected<KernelUsage> Engine::usage(Kernel* kernel) {
  std::call_once(kernel->decoded, [&] {
    const std::lock_guard lock(kernel->program->mutex);
    auto code = decode_kernel(*kernel->program, *kernel->function);
    if (!code) {
      kernel->error = code.error();
      return;
    }
    kernel->code = std::move(*code);
    uint32_t registers = 0;
    for (const auto& [f, c] : kernel->code->functions)
      registers = std::max(registers, c->register_count);
    kernel->usage.registers = std::clamp<uint32_t>((registers + 7) / 8 * 8, 16, 255);
    kernel->usage.static_shared = kernel->code->static_shared;
    kernel->usage.local_bytes = kernel->code->local_bytes;
    kernel->usage.constant_bytes = kernel->info.param_bytes;
  });
  if (kernel->error.code) return kernel->error;
  return kernel->usage;
}

Fault Engine::run(const Launch& launch) {
  const auto usage = this->usage(launch.kernel);
  if (!usage) return {FaultKind::unsupported, usage.error().message};
  GridRun grid;
  grid.launch = &launch;
  grid.code = launch.kernel->code.get();
  grid.gpu = &impl_->options.gpu;
  grid.engine = this;
  grid.id = impl_->next_grid++;
  grid.blocks = launch.grid.count();
  grid.shared_bytes = grid.code->static_shared;
  if (launch.dynamic_shared)
    grid.shared_bytes = grid.code->dynamic_shared_offset + launch.dynamic_shared;
  grid.counting = impl_->counting.load();
  grid.start = std::chrono::steady_clock::now();
  const Occupancy fits =
      occupancy(impl_->options.gpu, {.block_threads = int(launch.block.count()),
                                     .registers_per_thread = int(usage->registers),
                                     .shared_bytes = grid.shared_bytes});
  const uint64_t threads = impl_->options.threads;
  const uint64_t resident = uint64_t(fits.blocks_per_sm) * uint64_t(impl_->options.gpu.sm_count);
  grid.extra_limit = launch.cooperative ? grid.blocks : resident - std::min(resident, threads);
  if (!launch.cooperative)
    grid.chunk =
        std::clamp<uint64_t>(grid.blocks / (threads * kChunksPerWorker), 1, kMostBlocksAChunk);
  std::optional<uint64_t> workspace;
  if (launch.cooperative) {
    workspace = impl_->memory.allocate(kWorkspaceBytes, 256, MemKind::variable, 0,
                                       "cooperative launch workspace");
    if (!workspace)
      return {FaultKind::out_of_memory, "no memory for the cooperative launch's workspace"};
    std::memset(reinterpret_cast<void*>(*workspace), 0, kWorkspaceBytes);
    grid.workspace = *workspace;
  }
  impl_->watch.begin(&grid);
  impl_->run_on_all(grid);
  impl_->watch.end(&grid);
  if (workspace) impl_->memory.release(*workspace, MemKind::variable);
  impl_->warp_instructions += grid.warp_instructions;
  impl_->thread_instructions += grid.thread_instructions;
  return grid.fault;
}

void Engine::flush_printf() { flush_device_printf(); }
void Engine::set_counting(bool on) { impl_->counting = on; }
InstructionCounts Engine::counts() const {
  return {impl_->warp_instructions, impl_->thread_instructions};
}

}  // namespace ridge::vm
