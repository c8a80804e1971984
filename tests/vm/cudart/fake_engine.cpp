#include "fake_engine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "vm/exec/children.h"

namespace ridge::vm {

class Kernel {
 public:
  KernelInfo info;
  KernelUsage usage;
};

class Program {
 public:
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::map<std::string, Engine::Symbol, std::less<>> variables;
};

struct Engine::Impl {
  GpuSpec gpu;
  Allocations memory;
  texture::Objects textures;
  std::mutex mutex;
  std::vector<std::unique_ptr<Program>> programs;
};

namespace fake {
namespace {
std::mutex mutex;
std::map<std::string, Body, std::less<>>& bodies() {
  static auto& all = *new std::map<std::string, Body, std::less<>>;
  return all;
}
}  // namespace

void on_run(const std::string& kernel, Body body) {
  const std::lock_guard lock(mutex);
  bodies()[kernel] = std::move(body);
}
void forget_bodies() {
  const std::lock_guard lock(mutex);
  bodies().clear();
}
}  // namespace fake

namespace {

std::unique_ptr<Kernel> read_kernel(std::istringstream& words) {
  auto kernel = std::make_unique<Kernel>();
  words >> kernel->info.name;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "params") {
      std::istringstream sizes(value);
      for (std::string size; std::getline(sizes, size, ',');) {
        const auto bytes = uint32_t(std::stoul(size));
        uint32_t& end = kernel->info.param_bytes;
        const uint32_t align = std::min(bytes, 8u);
        end = (end + align - 1) / align * align;
        kernel->info.params.push_back({end, bytes});
        end += bytes;
      }
    }
    if (key == "registers") kernel->usage.registers = uint32_t(std::stoul(value));
    if (key == "static_shared") kernel->usage.static_shared = uint32_t(std::stoul(value));
    if (key == "max_threads") kernel->info.max_threads = uint32_t(std::stoul(value));
  }
  return kernel;
}

}  // namespace

// Open: the kernels of these tests are functions of the host, which follow a device's pointers.
Engine::Engine(EngineOptions options)
    : impl_(new Impl{options.gpu, Allocations(uint64_t(8) << 30, false), {}, {}, {}}) {}
Engine::~Engine() = default;
const GpuSpec& Engine::gpu() const { return impl_->gpu; }
Allocations& Engine::memory() { return impl_->memory; }
texture::Objects& Engine::textures() { return impl_->textures; }

Expected<Program*> Engine::load(std::string ptx, std::string name, bool) {
  auto program = std::make_unique<Program>();
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, variable;
    uint64_t size = 0;
    if (!(words >> kind)) continue;
    if (kind == "kernel") {
      auto kernel = read_kernel(words);
      program->kernels.emplace(kernel->info.name, std::move(kernel));
    } else if (kind == "variable" && words >> variable >> size) {
      const auto address = impl_->memory.allocate(size, 16, MemKind::variable, 0, variable);
      program->variables[variable] = {*address, size};
    } else {
      return Error{1, name + ": " + line};
    }
  }
  const std::lock_guard lock(impl_->mutex);
  impl_->programs.push_back(std::move(program));
  return impl_->programs.back().get();
}

void Engine::bring(Program*, std::string) {}

void Engine::unload(Program* program) {
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [name, symbol] : program->variables)
    impl_->memory.release(symbol.address, MemKind::variable);
  std::erase_if(impl_->programs, [&](const auto& p) { return p.get() == program; });
}

Kernel* Engine::find_kernel(Program* program, std::string_view name) {
  const auto found = program->kernels.find(name);
  return found == program->kernels.end() ? nullptr : found->second.get();
}

std::vector<Kernel*> Engine::kernels(Program* program) {
  std::vector<Kernel*> all;
  for (const auto& [name, kernel] : program->kernels) all.push_back(kernel.get());
  return all;
}

Engine::Symbol Engine::find_variable(Program* program, std::string_view name) {
  const auto found = program->variables.find(name);
  return found == program->variables.end() ? Symbol{} : found->second;
}

const KernelInfo& Engine::info(const Kernel* kernel) { return kernel->info; }
Expected<KernelUsage> Engine::usage(Kernel* kernel) { return kernel->usage; }

Fault Engine::run(const Launch& launch, Dependence*) {
  fake::Body body;
  {
    const std::lock_guard lock(fake::mutex);
    const auto found = fake::bodies().find(launch.kernel->info.name);
    if (found != fake::bodies().end()) body = found->second;
  }
  return body ? body(launch) : Fault{};
}

std::optional<uint64_t> Engine::heap_allocate(uint64_t) { return std::nullopt; }
bool Engine::heap_release(uint64_t) { return false; }
void Engine::set_heap_limit(uint64_t) {}
void Engine::release_memory() { impl_->memory.release_all(); }
void provide_error_texts(ErrorText) {}
void Engine::flush_printf() {}
void Engine::set_counting(bool) {}
InstructionCounts Engine::counts() const { return {}; }

}  // namespace ridge::vm
