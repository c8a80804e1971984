// The device side of the CUDA runtime, as nvcc names its functions (__cudaCDP2…): launches from
// kernels, and the calls around them. Error codes are cudaError_t's.
#include <atomic>
#include <string>

#include "vm/exec/children.h"
#include "vm/exec/device_runtime.h"
#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

enum Code : int32_t {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kInvalidDeviceFunction = 98,
  kInvalidResourceHandle = 400,
};
constexpr uint64_t kTailLaunch = 3, kFireAndForget = 4;  // cudaStream…
constexpr uint64_t kFirstHandle = 0x1000;                // streams and events that programs make
constexpr uint32_t kParameterAlign = 64;
constexpr int32_t kRuntimeVersion = 13000;

Children& children(Warp& w) { return w.worker->grid->children; }
uint64_t thread_key(const Warp& w, int lane) {
  return w.block->index << 16 | uint64_t(w.index * kWarpSize + uint32_t(lane));
}
Code remember(Warp& w, int lane, Code code) {
  if (code == kSuccess) return code;
  const std::lock_guard lock(children(w).mutex);
  children(w).last_errors[thread_key(w, lane)] = code;
  return code;
}

// Calls code(lane) for every active lane; its answer is what the function returns.
template <class F>
const Inst* answer(Warp& w, const Inst* inst, const CallSite& site, F code) {
  each_active(w.mask,
              [&](int i) { set_call_result<int32_t>(w, site, i, remember(w, i, code(i))); });
  return inst + 1;
}

// A value through the pointer that is argument k.
template <class T>
Code give(Warp& w, const CallSite& site, size_t k, int lane, T value) {
  const uint64_t to = call_argument<uint64_t>(w, site, k, lane);
  return write_generic(w, lane, to, &value, sizeof value) ? kSuccess : kInvalidValue;
}

// --- launches ---

Kernel* kernel_at(const Warp& w, uint64_t address) {
  const Program& program = *w.frame->code->kernel->program;
  for (const auto& kernel : program.kernels) {
    const auto at = program.function_addresses.find(kernel->function);
    if (at != program.function_addresses.end() && at->second == address) return kernel.get();
  }
  return nullptr;
}

Code check(const Warp& w, const Launch& launch) {
  if (!launch.kernel) return kInvalidDeviceFunction;
  const GpuSpec& gpu = w.worker->engine->gpu();
  const uint64_t threads = launch.block.count();
  if (!threads || !launch.grid.count() || threads > launch.kernel->info.max_threads ||
      launch.grid.y > 65535 || launch.grid.z > 65535 || launch.block.z > 64 ||
      launch.dynamic_shared > uint64_t(gpu.shared_per_block_optin))
    return kInvalidConfiguration;
  if (launch.grid.x % launch.cluster.x || launch.grid.y % launch.cluster.y ||
      launch.grid.z % launch.cluster.z)
    return kInvalidConfiguration;
  return kSuccess;
}

struct Shape {
  uint32_t x, y, z;
};

// Memory for the child's parameters, which the thread fills before it launches.
uint64_t prepare(Warp& w, int lane, Launch launch) {
  if (const uint32_t* c = launch.kernel ? launch.kernel->info.required_cluster : nullptr; c && *c) {
    launch.cluster = {c[0], c[1], c[2]};
    launch.explicit_cluster = true;
  }
  if (remember(w, lane, check(w, launch)) != kSuccess) return 0;
  auto& memory = w.worker->engine->memory();
  const uint64_t bytes = std::max(launch.kernel->info.param_bytes, 1u);
  const auto buffer =
      memory.allocate(bytes, kParameterAlign, MemKind::variable, 0, "parameters of a child grid");
  if (!buffer) return remember(w, lane, kMemoryAllocation), 0;
  const std::lock_guard lock(children(w).mutex);
  children(w).prepared.emplace(*buffer, std::move(launch));
  return *buffer;
}

const Inst* get_parameter_buffer(Warp& w, const Inst* inst, const CallSite& site) {
  each_active(w.mask, [&](int i) {
    const auto grid = call_argument<Shape>(w, site, 1, i),
               block = call_argument<Shape>(w, site, 2, i);
    Launch launch;
    launch.kernel = kernel_at(w, call_argument<uint64_t>(w, site, 0, i));
    launch.grid = {grid.x, grid.y, grid.z};
    launch.block = {block.x, block.y, block.z};
    launch.dynamic_shared = call_argument<uint32_t>(w, site, 3, i);
    set_call_result<uint64_t>(w, site, i, prepare(w, i, std::move(launch)));
  });
  return inst + 1;
}

Code launch_prepared(Warp& w, uint64_t buffer, uint64_t stream) {
  if (stream && stream != kTailLaunch && stream != kFireAndForget && stream < kFirstHandle)
    return kInvalidResourceHandle;
  Children& all = children(w);
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.prepared.find(buffer);
    if (found == all.prepared.end()) return kInvalidValue;
    ChildWork child;
    child.launch = std::move(found->second);
    all.prepared.erase(found);
    child.tail = stream == kTailLaunch;
    const uint8_t* bytes = w.worker->memory->place(buffer);
    child.launch.params.assign(bytes, bytes + child.launch.kernel->info.param_bytes);
    all.work.push_back(std::move(child));
  }
  w.worker->engine->memory().release(buffer, MemKind::variable);
  return kSuccess;
}

const Inst* launch_device(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    return launch_prepared(w, call_argument<uint64_t>(w, site, 0, i),
                           call_argument<uint64_t>(w, site, 1, i));
  });
}

// --- streams and events: all work runs in the order of its launches ---

const Inst* make_handle(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    uint64_t handle;
    {
      const std::lock_guard lock(children(w).mutex);
      handle = kFirstHandle + children(w).handles++;
    }
    return give(w, site, 0, i, handle);
  });
}
// Of a stream or an event that the program made: argument 0.
const Inst* use_handle(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    return call_argument<uint64_t>(w, site, 0, i) < kFirstHandle ? kInvalidResourceHandle
                                                                 : kSuccess;
  });
}
const Inst* wait_event(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    return call_argument<uint64_t>(w, site, 1, i) < kFirstHandle ? kInvalidResourceHandle
                                                                 : kSuccess;
  });
}

// --- memory ---

const Inst* copy(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    ChildWork work;
    work.kind = ChildWork::Kind::copy;
    work.to = call_argument<uint64_t>(w, site, 0, i);
    work.from = call_argument<uint64_t>(w, site, 1, i);
    work.bytes = call_argument<uint64_t>(w, site, 2, i);
    work.tail = call_argument<uint64_t>(w, site, 4, i) == kTailLaunch;
    const std::lock_guard lock(children(w).mutex);
    children(w).work.push_back(std::move(work));
    return kSuccess;
  });
}
const Inst* fill(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    ChildWork work;
    work.kind = ChildWork::Kind::fill;
    work.to = call_argument<uint64_t>(w, site, 0, i);
    work.value = uint8_t(call_argument<uint32_t>(w, site, 1, i));
    work.bytes = call_argument<uint64_t>(w, site, 2, i);
    work.tail = call_argument<uint64_t>(w, site, 3, i) == kTailLaunch;
    const std::lock_guard lock(children(w).mutex);
    children(w).work.push_back(std::move(work));
    return kSuccess;
  });
}
const Inst* allocate(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) {
    const auto memory = w.worker->engine->heap_allocate(call_argument<uint64_t>(w, site, 1, i));
    return memory ? give(w, site, 0, i, *memory) : kMemoryAllocation;
  });
}
const Inst* release(Warp& w, const Inst* inst, const CallSite& site) {
  const Inst* next = answer(w, inst, site, [&](int i) {
    const uint64_t address = call_argument<uint64_t>(w, site, 0, i);
    return !address || w.worker->engine->heap_release(address) ? kSuccess : kInvalidValue;
  });
  w.worker->ranges.fill(CheckedRange{});
  return next;
}

// --- questions ---

template <bool Forgets>
const Inst* last_error(Warp& w, const Inst* inst, const CallSite& site) {
  each_active(w.mask, [&](int i) {
    const std::lock_guard lock(children(w).mutex);
    auto& errors = children(w).last_errors;
    const auto found = errors.find(thread_key(w, i));
    set_call_result<int32_t>(w, site, i, found == errors.end() ? 0 : found->second);
    if (Forgets && found != errors.end()) errors.erase(found);
  });
  return inst + 1;
}
std::atomic<ErrorText> error_text{nullptr};
template <bool Name>
const Inst* error_string(Warp& w, const Inst* inst, const CallSite& site) {
  each_active(w.mask, [&](int i) {
    const auto code = call_argument<int32_t>(w, site, 0, i);
    const ErrorText text = error_text;
    const std::lock_guard lock(children(w).mutex);
    uint64_t& home = children(w).texts[int64_t(code) * 2 + Name];
    if (!home && text) {
      const std::string value = text(code, Name);
      home = w.worker->engine->memory()
                 .allocate(value.size() + 1, 16, MemKind::variable, 0, "text of an error")
                 .value_or(0);
      if (home) std::memcpy(w.worker->memory->place(home), value.c_str(), value.size() + 1);
    }
    set_call_result<uint64_t>(w, site, i, home);
  });
  return inst + 1;
}
template <int32_t Value>
const Inst* say(Warp& w, const Inst* inst, const CallSite& site) {
  return answer(w, inst, site, [&](int i) { return give(w, site, 0, i, Value); });
}

constexpr DeviceFunctionDef kFunctions[] = {
    {"__cudaCDP2GetParameterBufferV2", get_parameter_buffer},
    {"__cudaCDP2LaunchDeviceV2", launch_device},
    {"cudaGetParameterBufferV2", get_parameter_buffer},
    {"cudaLaunchDeviceV2", launch_device},
    {"__cudaCDP2StreamCreateWithFlags", make_handle},
    {"__cudaCDP2StreamDestroy", use_handle},
    {"__cudaCDP2StreamWaitEvent", wait_event},
    {"__cudaCDP2EventCreateWithFlags", make_handle},
    {"__cudaCDP2EventRecord", use_handle},
    {"__cudaCDP2EventRecordWithFlags", use_handle},
    {"__cudaCDP2EventDestroy", use_handle},
    {"__cudaCDP2MemcpyAsync", copy},
    {"__cudaCDP2MemsetAsync", fill},
    {"__cudaCDP2Malloc", allocate},
    {"__cudaCDP2Free", release},
    {"__cudaCDP2GetLastError", last_error<true>},
    {"__cudaCDP2PeekAtLastError", last_error<false>},
    {"__cudaCDP2GetErrorName", error_string<true>},
    {"__cudaCDP2GetErrorString", error_string<false>},
    {"__cudaCDP2GetDevice", say<0>},
    {"__cudaCDP2GetDeviceCount", say<1>},
    {"__cudaCDP2RuntimeGetVersion", say<kRuntimeVersion>},
};

Fault run_one(Engine& engine, const ChildWork& work) {
  if (work.kind == ChildWork::Kind::kernel) return engine.run(work.launch);
  if (!work.bytes) return {};
  const auto held = [&](uint64_t address) {
    const auto home = engine.memory().find(address);
    return home && address + work.bytes >= address && address + work.bytes <= home->end();
  };
  const bool copies = work.kind == ChildWork::Kind::copy;
  if (!held(work.to) || (copies && !held(work.from)))
    return fault_with_message(
        FaultKind::illegal_address,
        std::string("a kernel's ") + (copies ? "cudaMemcpyAsync" : "cudaMemsetAsync") + " of " +
            std::to_string(work.bytes) + " bytes does not lie in one live allocation");
  uint8_t* to = engine.memory().place(work.to);
  if (copies) std::memmove(to, engine.memory().place(work.from), work.bytes);
  else std::memset(to, work.value, work.bytes);
  return {};
}

}  // namespace

std::span<const DeviceFunctionDef> dynamic_parallelism_functions() { return kFunctions; }

void provide_error_texts(ErrorText text) { error_text = text; }

Fault run_children(Engine& engine, Children& children) {
  for (const auto& [buffer, launch] : children.prepared)  // never launched
    engine.memory().release(buffer, MemKind::variable);
  children.prepared.clear();
  Fault fault;
  for (const bool tail : {false, true})
    for (const ChildWork& work : children.work)
      if (work.tail == tail && !fault) fault = run_one(engine, work);
  for (const auto& [code, home] : children.texts)
    if (home) engine.memory().release(home, MemKind::variable);
  return fault;
}

}  // namespace ridge::vm
