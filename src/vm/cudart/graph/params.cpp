#include "vm/cudart/graph/params.h"

#include "vm/cudart/arrays.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/launch.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {

cudaError_t work_of(const cudaKernelNodeParams* p, Work* work) {
  if (!p) return cudaErrorInvalidValue;
  if (p->extra && !p->kernelParams)
    return cudaError_t(refuse("cudaKernelNodeParams::extra", "graphs"));
  KernelWork kernel{.function = p->func, .launch = {}, .hints = {}};
  const LaunchRequest request{.function = p->func,
                              .grid = p->gridDim,
                              .block = p->blockDim,
                              .arguments = p->kernelParams,
                              .dynamic_shared = p->sharedMemBytes};
  if (const cudaError_t error = prepare(request, &kernel.launch)) return error;
  *work = std::move(kernel);
  return cudaSuccess;
}

cudaError_t work_of(const cudaMemcpy3DParms* p, Work* work) {
  CopyPlan plan;
  if (const cudaError_t error = plan_of(p, &plan)) return error;
  if (const cudaError_t error = check(plan)) return error;
  *work = plan;
  return cudaSuccess;
}

cudaError_t work_of(const cudaMemsetParams* p, Work* work) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return cudaErrorInvalidValue;
  const FillPlan plan{.to = {p->dst, p->pitch},
                      .extent = {p->width * p->elementSize, p->height},
                      .value = p->value,
                      .element = p->elementSize};
  if (p->height > 1 && p->pitch < plan.extent.width) return cudaErrorInvalidValue;
  if (const cudaError_t error = check(plan)) return error;
  *work = plan;
  return cudaSuccess;
}

cudaError_t work_of(const cudaHostNodeParams* p, Work* work) {
  if (!p || !p->fn) return cudaErrorInvalidValue;
  *work = HostWork{p->fn, p->userData};
  return cudaSuccess;
}

cudaError_t flat_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Work* work) {
  const CopyPlan plan{
      .to = {to}, .from = {const_cast<void*>(from)}, .extent = {bytes}, .kind = kind};
  if (const cudaError_t error = check(plan)) return error;
  *work = plan;
  return cudaSuccess;
}

cudaError_t symbol_copy(const void* symbol, void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, bool out, Work* work) {
  CopyPlan plan;
  if (const cudaError_t error = symbol_plan(symbol, other, bytes, offset, kind, out, &plan))
    return error;
  if (const cudaError_t error = check(plan)) return error;
  *work = plan;
  return cudaSuccess;
}

cudaError_t event_record(cudaEvent_t event, Work* work) {
  const EventRef found = find_event(event);
  if (!found) return cudaErrorInvalidValue;
  *work = EventRecordWork{found};
  return cudaSuccess;
}

cudaError_t event_wait(cudaEvent_t event, Work* work) {
  const EventRef found = find_event(event);
  if (!found) return cudaErrorInvalidValue;
  *work = EventWaitWork{found};
  return cudaSuccess;
}

cudaError_t child_graph(cudaGraph_t graph, Work* work) {
  const GraphRef found = find_graph(graph);
  if (!found) return cudaErrorInvalidValue;
  if (has_memory_nodes(*found) || has_conditional_nodes(*found))
    return cudaErrorNotSupported;  // it cannot be cloned
  *work = ChildWork{found->clone()};
  return cudaSuccess;
}

cudaError_t moved_graph(cudaGraph_t graph, Work* work) {
  if (const GraphRef found = find_graph(graph); found && has_conditional_nodes(*found))
    return cudaErrorNotSupported;
  GraphRef taken = take_graph(graph);
  if (!taken) return cudaErrorInvalidValue;
  *work = ChildWork{std::move(taken)};
  return cudaSuccess;
}

cudaError_t work_of(const cudaGraphNodeParams* p, Work* work) {
  if (!p) return cudaErrorInvalidValue;
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& k = p->kernel;
      const cudaKernelNodeParams same{k.func,           k.gridDim,      k.blockDim,
                                      k.sharedMemBytes, k.kernelParams, k.extra};
      return work_of(&same, work);
    }
    case cudaGraphNodeTypeMemcpy: return work_of(&p->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& m = p->memset;
      const cudaMemsetParams same{m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
      return work_of(&same, work);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams same{p->host.fn, p->host.userData};
      return work_of(&same, work);
    }
    case cudaGraphNodeTypeGraph:
      return p->graph.ownership == cudaGraphChildGraphOwnershipMove
                 ? moved_graph(p->graph.graph, work)
                 : child_graph(p->graph.graph, work);
    case cudaGraphNodeTypeEmpty: *work = EmptyWork{}; return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: return event_record(p->eventRecord.event, work);
    case cudaGraphNodeTypeWaitEvent: return event_wait(p->eventWait.event, work);
    case cudaGraphNodeTypeMemAlloc:  // added by functions of their own, and never changed
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeConditional: return cudaErrorInvalidValue;
    default:
      return cudaError_t(refuse("an external semaphore node of a graph", "external semaphores"));
  }
}

cudaError_t params_of(GraphNode& node, cudaKernelNodeParams* params) {
  auto* work = std::get_if<KernelWork>(&node.work);
  if (!work || !params) return cudaErrorInvalidValue;
  Launch& l = work->launch;
  node.argument_pointers.clear();
  for (const auto& param : runtime().engine.info(l.kernel).params)
    node.argument_pointers.push_back(l.params.data() + param.offset);
  *params = {const_cast<void*>(work->function),     dim3(l.grid.x, l.grid.y, l.grid.z),
             dim3(l.block.x, l.block.y, l.block.z), l.dynamic_shared,
             node.argument_pointers.data(),         nullptr};
  return cudaSuccess;
}

cudaError_t params_of(const GraphNode& node, cudaMemcpy3DParms* params) {
  const auto* plan = std::get_if<CopyPlan>(&node.work);
  if (!plan || !params) return cudaErrorInvalidValue;
  const BoxExtent& e = plan->extent;
  size_t unit = 1;
  const auto tell = [&](const Box& box, cudaArray_t& array, cudaPos& at, cudaPitchedPtr& pointer) {
    if (const ArrayRef held = array_holding(box.start, &at)) {
      array = reinterpret_cast<cudaArray_t>(held.get());
      unit = held->texel_bytes();
    } else {
      pointer = {box.start, box.pitch ? box.pitch : e.width, e.width,
                 box.pitch ? box.slice / box.pitch : 1};
    }
  };
  *params = {};
  tell(plan->from, params->srcArray, params->srcPos, params->srcPtr);
  tell(plan->to, params->dstArray, params->dstPos, params->dstPtr);
  params->extent = {e.width / unit, e.height, e.depth};
  params->kind = plan->kind;
  return cudaSuccess;
}

cudaError_t params_of(const GraphNode& node, cudaMemsetParams* params) {
  const auto* plan = std::get_if<FillPlan>(&node.work);
  if (!plan || !params) return cudaErrorInvalidValue;
  *params = {plan->to.start,
             plan->to.pitch,
             plan->value,
             unsigned(plan->element),
             plan->extent.width / plan->element,
             plan->extent.height};
  return cudaSuccess;
}

cudaError_t params_of(const GraphNode& node, cudaHostNodeParams* params) {
  const auto* work = std::get_if<HostWork>(&node.work);
  if (!work || !params) return cudaErrorInvalidValue;
  *params = {work->function, work->data};
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
