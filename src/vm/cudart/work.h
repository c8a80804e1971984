// One piece of work for a stream or a graph node: what to run, with everything it needs copied in.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/copy.h"
#include "vm/cudart/events.h"
#include "vm/cudart/graph/conditional.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

struct Graph;
struct GraphMemory;

struct EmptyWork {};
struct KernelWork {
  const void* function = nullptr;  // as the program named it
  Launch launch;
  std::vector<cudaLaunchAttribute> hints;  // kept, and given back
  // It may begin when the kernel before it in the stream lets it begin.
  bool early = false;
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct EventRecordWork {
  EventRef event;
};
struct EventWaitWork {
  EventRef event;
};
struct AllocWork {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeWork {
  std::shared_ptr<GraphMemory> memory;
};
using Work = std::variant<EmptyWork, KernelWork, CopyPlan, FillPlan, HostWork, ChildWork,
                          EventRecordWork, EventWaitWork, AllocWork, FreeWork, ConditionalWork>;

cudaGraphNodeType node_type(const Work& work);

// Another piece of work of the same kind in its place. Attributes of a kernel stay.
void replace(Work& work, Work by);

// Runs it, on the stream's thread. Does nothing once the device is dead. `dependence` is of a
// kernel.
void execute(const Stream& stream, const Work& work, Dependence* dependence = nullptr);

// Tells the observer of host accesses what this work may use of pinned and managed memory.
void tell_uses(const Ticket& ticket, const std::vector<const Work*>& works);
// The order of the host function that this thread runs for a stream; null: it runs none, or nobody
// watches.
const WorkOrder* host_function_order();

// Into the stream, or, while the stream captures, into its graph.
cudaError_t enqueue(cudaStream_t stream, Work work);
cudaError_t enqueue(const StreamRef& stream, Work work);

}  // namespace ridge::vm::cudart
