#include "vm/cudart/work.h"

#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/launch.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/trace.h"

namespace ridge::vm::cudart {
namespace {

struct Execute {
  void operator()(const EmptyWork&) const {}
  void operator()(const KernelWork& work) const { run(work.launch); }
  void operator()(const CopyPlan& plan) const { execute(plan); }
  void operator()(const FillPlan& plan) const { execute(plan); }
  void operator()(const HostWork& work) const { work.function(work.data); }
  void operator()(const ChildWork&) const {}  // flattened when the graph is instantiated
  void operator()(const EventRecordWork& work) const {
    auto now = std::make_shared<Completion>();
    now->done = true;
    now->time = Clock::now();
    now->order = Scheduler::running();
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
  cudaGraphNodeType operator()(const EventRecordWork&) const {
    return cudaGraphNodeTypeEventRecord;
  }
  cudaGraphNodeType operator()(const EventWaitWork&) const { return cudaGraphNodeTypeWaitEvent; }
  cudaGraphNodeType operator()(const AllocWork&) const { return cudaGraphNodeTypeMemAlloc; }
  cudaGraphNodeType operator()(const FreeWork&) const { return cudaGraphNodeTypeMemFree; }
};

}  // namespace

cudaGraphNodeType node_type(const Work& work) { return std::visit(NodeType{}, work); }

void replace(Work& work, Work by) {
  auto* old = std::get_if<KernelWork>(&work);
  auto* kernel = std::get_if<KernelWork>(&by);
  if (old && kernel) {
    kernel->hints = std::move(old->hints);
    kernel->launch.cooperative = old->launch.cooperative;
  }
  work = std::move(by);
}

void execute(const Stream& stream, const Work& work) try {
  if (sticky_error()) return;
  const TraceSpan span(stream, work);
  std::visit(Execute{}, work);
} catch (const std::bad_alloc&) {  // nobody else is there to hear of it
  record_fault({.kind = FaultKind::out_of_memory, .finding = {}});
}

cudaError_t enqueue(const StreamRef& stream, Work work) {
  if (const CaptureRef capture = capture_of(stream))
    return capture_work(capture, stream, std::move(work));
  if (const cudaError_t error = check_implicit(stream)) return error;
  const auto* kernel = std::get_if<KernelWork>(&work);
  const std::string name = kernel ? runtime().engine.info(kernel->launch.kernel).name : "";
  const Ticket ticket = runtime().scheduler.submit(
      stream, [&on = *stream, work = std::move(work)] { execute(on, work); });
  if (!name.empty()) runtime().scheduler.note_kernel(stream, ticket, name);
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t handle, Work work) {
  const StreamRef stream = find_stream(handle);
  return stream ? enqueue(stream, std::move(work)) : cudaErrorInvalidResourceHandle;
}

}  // namespace ridge::vm::cudart
