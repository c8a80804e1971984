#include "vm/cudart/trace.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>
#include <set>

#include "core/chrome_trace.h"
#include "vm/cudart/config.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

// Never destroyed, nor is one that another replaced: a stream may be writing to it.
struct Trace {
  explicit Trace(const std::string& path) : file(path) {
    file.name_process(std::string(config().gpu.name) + " (software GPU)");
  }
  ChromeTrace file;
  std::mutex mutex;
  std::set<uint64_t> named;  // rows
};
std::atomic<Trace*> current{nullptr};

uint64_t now() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
}

std::string name_of(const Stream& stream) {
  if (stream.kind == StreamKind::legacy) return "default stream";
  std::string name = "stream " + std::to_string(stream.id);
  if (stream.kind == StreamKind::non_blocking) name += ", non-blocking";
  if (stream.priority != 0) name += ", priority " + std::to_string(stream.priority);
  return name;
}

ChromeTrace::Memory memory_of(const void* pointer) {
  const auto found = find_allocation(pointer);
  if (!found) return ChromeTrace::Memory::pageable;
  if (is_managed(*found)) return ChromeTrace::Memory::managed;
  return found->kind == MemKind::pinned || found->kind == MemKind::registered
             ? ChromeTrace::Memory::pinned
             : ChromeTrace::Memory::device;
}

uint64_t bytes_of(const BoxExtent& extent) { return extent.width * extent.height * extent.depth; }

std::string symbol_at(const void* function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_sname ? info.dli_sname : "";
}

struct Write {
  const ChromeTrace& file;
  uint64_t row;
  ChromeTrace::Time time;

  void operator()(const KernelWork& work) const {
    const Launch& l = work.launch;
    file.kernel(row, time, runtime().engine.info(l.kernel).name, {l.grid.x, l.grid.y, l.grid.z},
                {l.block.x, l.block.y, l.block.z}, l.dynamic_shared);
  }
  void operator()(const CopyPlan& plan) const {
    file.copy(row, time, memory_of(plan.from.start), memory_of(plan.to.start),
              bytes_of(plan.extent));
  }
  void operator()(const FillPlan& plan) const { file.fill(row, time, bytes_of(plan.extent)); }
  void operator()(const HostWork& work) const {
    file.host_function(row, time, symbol_at(reinterpret_cast<const void*>(work.function)));
  }
  void operator()(const auto&) const {}  // takes no time of its own
};

}  // namespace

void trace_to(const std::string& file) { current = file.empty() ? nullptr : new Trace(file); }

TraceSpan::TraceSpan(const Stream& stream, const Work& work) : stream_(stream) {
  if (!current) return;
  work_ = &work;
  start_ = now();
}

TraceSpan::TraceSpan(const Stream& stream, const void* host_function) : stream_(stream) {
  if (!current) return;
  host_function_ = host_function;
  start_ = now();
}

TraceSpan::~TraceSpan() {
  try {
    write();
  } catch (const std::bad_alloc&) {
    // The program goes on without this event.
  }
}

void TraceSpan::write() const {
  Trace* trace = current;
  if (!trace || start_ == 0) return;
  const ChromeTrace::Time time = {start_, now()};
  {
    const std::lock_guard lock(trace->mutex);
    if (trace->named.insert(stream_.id).second) trace->file.name_row(stream_.id, name_of(stream_));
  }
  if (work_) std::visit(Write{trace->file, stream_.id, time}, *work_);
  else trace->file.host_function(stream_.id, time, symbol_at(host_function_));
}

}  // namespace ridge::vm::cudart
