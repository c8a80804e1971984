// The engine: programs, the pool of worker threads, and the watch over running launches.
#include "vm/exec/engine.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <list>
#include <set>
#include <thread>

#include "core/occupancy.h"
#include "vm/decode/program.h"
#include "vm/exec/ask_ptxas.h"
#include "vm/exec/grid.h"
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
constexpr uint64_t kHeapAlign = 16, kHeapBytes = 8 << 20;  // cudaLimitMallocHeapSize, unset
constexpr uint64_t kWorkspaceBytes = 4096;  // cooperative launches: the grid barrier and its kin

}  // namespace

struct Engine::Impl {
  EngineOptions options;
  Allocations memory;
  texture::Objects textures;
  std::mutex mutex;
  std::list<std::unique_ptr<Program>> programs;
  uint64_t next_id = 1;
  std::set<Line> warned;
  std::atomic<bool> counting{false};
  std::atomic<uint64_t> heap_limit{kHeapBytes}, heap_used{0};
  std::atomic<uint64_t> warp_instructions{0}, thread_instructions{0};
  // Of all engines: observers tell launches apart by it.
  static inline std::atomic<uint64_t> next_grid{1};

  // Threads that help whichever launch has blocks left.
  std::vector<std::thread> helpers;
  std::mutex pool_mutex;
  std::condition_variable wake, idle;
  std::list<GridRun*> wanting;  // launches that want help
  bool closing = false;
  Watch watch;

  explicit Impl(EngineOptions o)
      : options(o),
        memory(capacity_for(o.gpu), o.closed, o.watched),
        watch(o.timeout_seconds, o.progress) {
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
      ++grid->helpers;
      // One more helper is enough for this launch once every block has been handed out.
      if (grid->next.load() + 1 < grid->clusters)
        wanting.splice(wanting.end(), wanting, wanting.begin());
      else wanting.pop_front();
      lock.unlock();
      work(*grid, index);
      lock.lock();
      std::erase(wanting, grid);
      --grid->helpers;
      idle.notify_all();
    }
  }

  // As many as there can be: without one, the launch's own thread does all the work.
  void start_helpers() try {
    helpers.reserve(options.threads);
    while (helpers.size() + 1 < options.threads)
      helpers.emplace_back([this, index = unsigned(helpers.size()) + 1] { help(index); });
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }

  void run_on_all(GridRun& grid) {
    const bool parallel = options.threads > 1 && grid.clusters > 1 && !grid.in_order;
    if (parallel) {
      const std::lock_guard lock(pool_mutex);
      wanting.push_back(&grid);
      start_helpers();
      wake.notify_all();
    }
    work(grid, 0);
    if (parallel) {
      std::unique_lock lock(pool_mutex);
      std::erase(wanting, &grid);
      idle.wait(lock, [&] { return grid.helpers == 0; });
    }
  }
};

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>(options)) {}
Engine::~Engine() = default;

const EngineOptions& Engine::options() const { return impl_->options; }
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
  // Its variables go with a program that does not come to be.
  struct Unplace {
    Allocations& memory;
    Program* program;
    ~Unplace() {
      if (program) release_variables(*program, memory);
    }
  } unplace{impl_->memory, program.get()};
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
  unplace.program = nullptr;
  return impl_->programs.back().get();
}

void Engine::bring(Program* program, std::string machine_code) {
  program->machine_code = std::move(machine_code);
}

void Engine::unload(Program* program) {
  const std::lock_guard lock(impl_->mutex);
  release_variables(*program, impl_->memory);
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

// With a mutex rather than std::call_once, which does not survive an exception when memory is
// short.
static void decode_once(Kernel& kernel, const GpuSpec& gpu) {
  if (kernel.decoded.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(kernel.program->mutex);
  if (kernel.decoded.load(std::memory_order_relaxed)) return;
  auto code = decode_kernel(*kernel.program, *kernel.function, kernel.info);
  if (code) {
    kernel.code = std::move(*code);
    uint32_t registers = 0;
    for (const auto& [f, c] : kernel.code->functions)
      registers = std::max(registers, c->register_count);
    kernel.usage.registers = std::clamp<uint32_t>((registers + 7) / 8 * 8, 16, 255);
    if (const uint32_t fixed = kernel.code->entry_registers)
      kernel.usage.registers = std::min(fixed, 255u);
    if (const auto known = ask_ptxas(*kernel.program->module, *kernel.function, gpu))
      kernel.usage.registers = known->registers;
    kernel.usage.static_shared = kernel.code->static_shared;
    kernel.usage.local_bytes = kernel.code->local_bytes;
    kernel.usage.constant_bytes = kernel.info.param_bytes;
  } else {
    kernel.error = code.error();
  }
  kernel.decoded.store(true, std::memory_order_release);
}

Expected<KernelUsage> Engine::usage(Kernel* kernel) {
  decode_once(*kernel, impl_->options.gpu);
  if (kernel->error.code) return kernel->error;
  return kernel->usage;
}

Fault Engine::run(const Launch& launch, Dependence* dependence) {
  const auto usage = this->usage(launch.kernel);
  if (!usage) return fault_with_message(FaultKind::unsupported, usage.error().message);
  GridRun grid;
  grid.launch = &launch;
  grid.code = launch.kernel->code.get();
  grid.gpu = &impl_->options.gpu;
  grid.engine = this;
  grid.id = impl_->next_grid++;
  grid.blocks = launch.grid.count();
  grid.cluster_size = uint32_t(launch.cluster.count());
  grid.observer = observer();
  if (grid.observer && (grid.cluster_size == 1 || grid.observer->chooses_clusters())) {
    grid.chosen = grid.observer->choose(grid);
    if (!grid.chosen.empty()) grid.blocks = grid.chosen.size() * grid.cluster_size;
  }
  grid.clusters = grid.blocks / grid.cluster_size;
  grid.shared_bytes = grid.code->static_shared;
  if (launch.dynamic_shared)
    grid.shared_bytes = grid.code->dynamic_shared_offset + launch.dynamic_shared;
  grid.dependence = dependence;
  grid.releases = dependence && grid.code->triggers && grid.chosen.empty();
  grid.waits = dependence && dependence->has_prerequisites();
  grid.workers = impl_->options.threads;
  grid.counting = impl_->counting.load();
  grid.start = std::chrono::steady_clock::now();
  const Occupancy fits =
      occupancy(impl_->options.gpu, {.block_threads = int(launch.block.count()),
                                     .registers_per_thread = int(usage->registers),
                                     .shared_bytes = grid.shared_bytes});
  const uint64_t threads = impl_->options.threads;
  const uint64_t resident =
      uint64_t(fits.blocks_per_sm) * uint64_t(impl_->options.gpu.sm_count) / grid.cluster_size;
  grid.extra_limit = launch.cooperative ? grid.clusters : resident - std::min(resident, threads);
  if (!launch.cooperative)
    grid.chunk =
        std::clamp<uint64_t>(grid.clusters / (threads * kChunksPerWorker), 1, kMostBlocksAChunk);
  struct Workspace {
    Allocations& memory;
    std::optional<uint64_t> address;
    ~Workspace() {
      if (address) memory.release(*address, MemKind::variable);
    }
  } workspace{impl_->memory, {}};
  if (launch.cooperative) {
    workspace.address = impl_->memory.allocate(kWorkspaceBytes, 256, MemKind::variable, 0,
                                               "cooperative launch workspace");
    if (!workspace.address)
      return fault_with_message(FaultKind::out_of_memory,
                                "no memory for the cooperative launch's workspace");
    std::memset(impl_->memory.place(*workspace.address), 0, kWorkspaceBytes);
    grid.workspace = *workspace.address;
  }
  const Watched watched(impl_->watch, grid);
  Observer* const watching = grid.observer;
  if (watching) watching->begin(grid, impl_->options.threads);
  grid.in_order = watching && watching->wants_order(grid);
  if (grid.in_order) grid.workers = 1;
  if (watching && grid.chosen.empty() && !watching->watches(grid)) grid.observer = nullptr;
  impl_->run_on_all(grid);
  while (!grid.chosen.empty() && !grid.fault) {
    grid.has_run.resize(launch.grid.count());
    for (const uint64_t block : grid.chosen) grid.has_run[block] = true;
    grid.chosen = grid.observer->choose(grid);
    grid.clusters = grid.chosen.size();
    grid.blocks = grid.clusters * grid.cluster_size;
    grid.next = 0;
    if (grid.blocks) impl_->run_on_all(grid);
  }
  if (watching) watching->end(grid);
  impl_->warp_instructions += grid.warp_instructions;
  impl_->thread_instructions += grid.thread_instructions;
  if (grid.fault) grid.children.work.clear();
  const Fault child = run_children(*this, grid.children);
  return grid.fault ? grid.fault : child;
}

bool Engine::is_first_warning(const Line& line) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->warned.insert(line).second;
}

std::optional<uint64_t> Engine::heap_allocate(uint64_t bytes) {
  const uint64_t wanted = std::max<uint64_t>(bytes, 1);
  const uint64_t limit = impl_->heap_limit;
  uint64_t used = impl_->heap_used.load();
  do {
    if (wanted > limit || used > limit - wanted) return std::nullopt;
  } while (!impl_->heap_used.compare_exchange_weak(used, used + wanted));
  const auto memory = impl_->memory.allocate(wanted, kHeapAlign, MemKind::device_heap);
  if (!memory) impl_->heap_used -= wanted;
  return memory;
}

bool Engine::heap_release(uint64_t address) {
  const auto home = impl_->memory.find(address);
  if (!home || !impl_->memory.release(address, MemKind::device_heap)) return false;
  impl_->heap_used -= home->size;
  return true;
}

void Engine::set_heap_limit(uint64_t bytes) { impl_->heap_limit = bytes; }

void Engine::release_memory() {
  impl_->memory.release_all();
  impl_->heap_used = 0;
}

void Engine::flush_printf() { flush_device_printf(); }
void Engine::set_counting(bool on) { impl_->counting = on; }
InstructionCounts Engine::counts() const {
  return {impl_->warp_instructions, impl_->thread_instructions};
}

}  // namespace ridge::vm
