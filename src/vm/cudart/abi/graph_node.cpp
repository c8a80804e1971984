// Graph nodes: adding them, and reading and changing what they do.
#include "vm/cudart/errors.h"
#include "vm/cudart/graph/edit.h"
#include "vm/cudart/graph/graph.h"
#include "vm/cudart/graph/params.h"
#include "vm/cudart/launch_attributes.h"

using namespace ridge::vm::cudart;

namespace {

template <class Params>
cudaError_t read(cudaGraphNode_t handle, Params* params) {
  return api([&] {
    GraphNode* node = find_node(handle);
    return node ? params_of(*node, params) : cudaErrorInvalidValue;
  });
}

template <class Body>
cudaError_t with_kernel(cudaGraphNode_t handle, Body&& body) {
  return api([&] {
    GraphNode* node = find_node(handle);
    auto* work = node ? std::get_if<KernelWork>(&node->work) : nullptr;
    return work ? body(*work) : cudaErrorInvalidValue;
  });
}

template <class EventWork>
cudaError_t event_of(cudaGraphNode_t handle, cudaEvent_t* event) {
  return api([&] {
    const GraphNode* node = find_node(handle);
    const auto* work = node ? std::get_if<EventWork>(&node->work) : nullptr;
    if (!work || !event) return cudaErrorInvalidValue;
    *event = reinterpret_cast<cudaEvent_t>(work->event.get());
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags) {
  return api([&] {
    const GraphRef found = find_graph(graph);
    if (!found || !handle) return cudaErrorInvalidValue;
    uint64_t made = 0;
    const cudaError_t error = create_condition(*found, initial, flags, &made);
    if (!error) *handle = made;
    return error;
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* kinds, size_t count,
                             cudaGraphNodeParams* params) {
  if (params && params->type == cudaGraphNodeTypeMemAlloc) {
    static_assert(sizeof params->alloc == sizeof(cudaMemAllocNodeParams));
    return cudaGraphAddMemAllocNode(node, graph, after, count,
                                    reinterpret_cast<cudaMemAllocNodeParams*>(&params->alloc));
  }
  if (params && params->type == cudaGraphNodeTypeMemFree)
    return cudaGraphAddMemFreeNode(node, graph, after, count, params->free.dptr);
  if (params && params->type == cudaGraphNodeTypeConditional)
    return add_conditional_node(node, graph, after, count, params->conditional);
  return add_node(
      node, graph, after, count, [&](Work* work) { return work_of(params, work); }, kinds);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return change_node(node, [&](Work* work) { return work_of(params, work); });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* params) {
  return add_node(node, graph, after, count, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return read(node, params);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return change_node(node, [&](Work* work) { return work_of(params, work); });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return with_kernel(node, [&](KernelWork& work) { return node_attribute(work, id, value); });
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return with_kernel(node, [&](KernelWork& work) {
    return value ? set_node_attribute(work, id, *value) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return with_kernel(from, [&](KernelWork& source) {
    return with_kernel(to, [&](KernelWork& target) {
      copy_node_attributes(target, source);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* params) {
  return add_node(node, graph, after, count, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count,
                  [&](Work* work) { return flat_copy(to, from, bytes, kind, work); });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, [&](Work* work) {
    return symbol_copy(symbol, const_cast<void*>(from), bytes, offset, kind, false, work);
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count, void* to,
                                             const void* symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, [&](Work* work) {
    return symbol_copy(symbol, to, bytes, offset, kind, true, work);
  });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return read(node, params);
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return change_node(node, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  return change_node(node, [&](Work* work) { return flat_copy(to, from, bytes, kind, work); });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return change_node(node, [&](Work* work) {
    return symbol_copy(symbol, const_cast<void*>(from), bytes, offset, kind, false, work);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return change_node(
      node, [&](Work* work) { return symbol_copy(symbol, to, bytes, offset, kind, true, work); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* params) {
  return add_node(node, graph, after, count, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return read(node, params);
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return change_node(node, [&](Work* work) { return work_of(params, work); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* params) {
  return add_node(node, graph, after, count, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return read(node, params);
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return change_node(node, [&](Work* work) { return work_of(params, work); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add_node(node, graph, after, count, [](Work*) { return cudaSuccess; });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  return add_node(node, graph, after, count, [&](Work* work) { return child_graph(child, work); });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* graph) {
  return api([&] {
    const GraphNode* node = find_node(handle);
    const auto* work = node ? std::get_if<ChildWork>(&node->work) : nullptr;
    if (!work || !graph) return cudaErrorInvalidValue;
    *graph = borrowed_handle(work->graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return add_node(node, graph, after, count, [&](Work* work) { return event_record(event, work); });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of<EventRecordWork>(node, event);
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return change_node(node, [&](Work* work) { return event_record(event, work); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  return add_node(node, graph, after, count, [&](Work* work) { return event_wait(event, work); });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of<EventWaitWork>(node, event);
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return change_node(node, [&](Work* work) { return event_wait(event, work); });
}

}  // extern "C"
