#include "vm/cudart/work.h"

#include <cstring>

#include "vm/cudart/asked.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/launch.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/trace.h"

namespace ridge::vm::cudart {
namespace {

// In the static part of its storage: a signal's handler asks for it.
__attribute__((tls_model("initial-exec"))) thread_local const WorkOrder* host_function = nullptr;

struct Execute {
  Dependence* dependence = nullptr;  // of a kernel

  void operator()(const EmptyWork&) const {}
  void operator()(const KernelWork& work) const { run(work.launch, dependence); }
  void operator()(const CopyPlan& plan) const { execute(plan); }
  void operator()(const FillPlan& plan) const { execute(plan); }
  void operator()(const HostWork& work) const {
    const WorkOrderRef order = Scheduler::running();
    host_function = order.get();
    work.function(work.data);
    host_function = nullptr;
  }
  void operator()(const ChildWork&) const {}        // flattened when the graph is instantiated
  void operator()(const ConditionalWork&) const {}  // the graph's launch chooses among the bodies
  void operator()(const EventRecordWork& work) const {
    auto now = std::make_shared<Completion>();
    now->done = true;
    now->time = Clock::now();
    now->order = Scheduler::running();
    now->node = Scheduler::running_node();
    work.event->set(std::move(now));
  }
  void operator()(const EventWaitWork& work) const {
    runtime().scheduler.wait(work.event->ticket());
  }
  void operator()(const AllocWork& work) const { work.memory->allocate(); }
  void operator()(const FreeWork& work) const { work.memory->release(); }
};

struct NodeType {
  cudaGraphNodeType operator()(const EmptyWork&) const { return cudaGraphNodeTypeEmpty; }
  cudaGraphNodeType operator()(const KernelWork&) const { return cudaGraphNodeTypeKernel; }
  cudaGraphNodeType operator()(const CopyPlan&) const { return cudaGraphNodeTypeMemcpy; }
  cudaGraphNodeType operator()(const FillPlan&) const { return cudaGraphNodeTypeMemset; }
  cudaGraphNodeType operator()(const HostWork&) const { return cudaGraphNodeTypeHost; }
  cudaGraphNodeType operator()(const ChildWork&) const { return cudaGraphNodeTypeGraph; }
  cudaGraphNodeType operator()(const ConditionalWork&) const {
    return cudaGraphNodeTypeConditional;
  }
  cudaGraphNodeType operator()(const EventRecordWork&) const {
    return cudaGraphNodeTypeEventRecord;
  }
  cudaGraphNodeType operator()(const EventWaitWork&) const { return cudaGraphNodeTypeWaitEvent; }
  cudaGraphNodeType operator()(const AllocWork&) const { return cudaGraphNodeTypeMemAlloc; }
  cudaGraphNodeType operator()(const FreeWork&) const { return cudaGraphNodeTypeMemFree; }
};

// What a piece of work may use of the memory that is watched.
struct Uses {
  const Allocations& memory;
  std::vector<Observer::Use>& uses;

  void add(uint64_t address, uint64_t bytes, bool writes, const char* call) const {
    if (bytes && memory.is_watched(address))
      uses.push_back({address, address + bytes, writes, call});
  }
  void add(const Box& box, const BoxExtent& extent, bool writes, const char* call) const {
    add(reinterpret_cast<uintptr_t>(box.start), span_of(box, extent), writes, call);
  }
  void add_whole(uint64_t address) const {
    if (!memory.is_watched(address)) return;
    if (const auto home = memory.find(address)) add(home->base, home->size, true, nullptr);
  }
  // Whatever a parameter points to, and variables that the host may use, too.
  void operator()(const KernelWork& work) const {
    const std::vector<uint8_t>& params = work.launch.params;
    for (size_t k = 0; k + 8 <= params.size(); k += 8) {
      uint64_t value = 0;
      std::memcpy(&value, params.data() + k, 8);
      add_whole(value);
    }
    for (const Allocation& a : memory.live())
      if (a.kind == MemKind::variable) add_whole(a.base);
  }
  void operator()(const CopyPlan& plan) const {
    add(plan.from, plan.extent, false, "cudaMemcpyAsync");
    add(plan.to, plan.extent, true, "cudaMemcpyAsync");
  }
  void operator()(const FillPlan& plan) const {
    add(plan.to, plan.extent, true, "cudaMemsetAsync");
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

const WorkOrder* host_function_order() { return host_function; }

void tell_uses(const Ticket& ticket, const std::vector<const Work*>& works) {
  Observer* const watching = observer();
  if (!watching || !watching->watches_host() || !ticket->order) return;
  const Allocations& memory = runtime().engine.memory();
  std::vector<Observer::Use> uses;
  for (const Work* work : works) std::visit(Uses{memory, uses}, *work);
  if (!uses.empty()) watching->submitted(ticket->order, memory, uses);
}

cudaGraphNodeType node_type(const Work& work) { return std::visit(NodeType{}, work); }

void replace(Work& work, Work by) {
  auto* old = std::get_if<KernelWork>(&work);
  auto* kernel = std::get_if<KernelWork>(&by);
  if (old && kernel) {
    kernel->hints = std::move(old->hints);
    kernel->launch.cooperative = old->launch.cooperative;
    kernel->launch.cluster = old->launch.cluster;
    kernel->launch.explicit_cluster = old->launch.explicit_cluster;
  }
  work = std::move(by);
}

void execute(const Stream& stream, const Work& work, Dependence* dependence) try {
  if (sticky_error()) return;
  const TraceSpan span(stream, work);
  std::visit(Execute{dependence}, work);
} catch (const std::bad_alloc&) {  // nobody else is there to hear of it
  record_fault({.kind = FaultKind::out_of_memory, .finding = {}});
}

cudaError_t enqueue(const StreamRef& stream, Work work) {
  if (const CaptureRef capture = capture_of(stream))
    return capture_work(capture, stream, std::move(work));
  if (const cudaError_t error = check_implicit(stream)) return error;
  const auto kept = std::make_shared<const Work>(std::move(work));
  Scheduler& scheduler = runtime().scheduler;
  Ticket ticket;
  if (const auto* kernel = std::get_if<KernelWork>(kept.get())) {
    ticket = scheduler.submit(
        stream,
        {.work = [&on = *stream, kept](Dependence& dependence) { execute(on, *kept, &dependence); },
         .early = kernel->early});
    scheduler.note_kernel(stream, ticket, runtime().engine.info(kernel->launch.kernel).name);
  } else {
    ticket = scheduler.submit(stream, [&on = *stream, kept] { execute(on, *kept); });
  }
  tell_uses(ticket, {kept.get()});
  tell_asked(ticket->order, *kept);
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t handle, Work work) {
  const StreamRef stream = find_stream(handle);
  return stream ? enqueue(stream, std::move(work)) : cudaErrorInvalidResourceHandle;
}

}  // namespace ridge::vm::cudart
