// Executable graphs: instantiating, launching, and changing them in place.
#include "vm/cudart/graph/exec.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/graph/edit.h"
#include "vm/cudart/graph/params.h"
#include "vm/cudart/streams.h"

using namespace ridge::vm::cudart;

namespace {

cudaError_t make_exec(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags,
                      BadConditional* bad = nullptr) {
  const GraphRef found = find_graph(graph);
  if (!exec || !found) return cudaErrorInvalidValue;
  GraphExecRef made;
  if (const cudaError_t error = instantiate(found, flags, &made, bad)) return error;
  *exec = exec_handle(std::move(made));
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return api([&] { return make_exec(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return api([&] { return make_exec(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  return api([&] {
    if (!params) return cudaErrorInvalidValue;
    BadConditional bad{cudaGraphInstantiateInvalidStructure, nullptr};
    const cudaError_t error = make_exec(exec, graph, params->flags, &bad);
    params->errNode_out = bad.node;
    params->result_out = error ? bad.result : cudaGraphInstantiateSuccess;
    return error;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return api([&] { return destroy_exec(exec) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return api([&] {
    const GraphExecRef exec = find_exec(handle);
    return exec && flags ? (*flags = exec->flags, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  return api([&] {
    const GraphExecRef exec = find_exec(handle);
    return exec ? launch(exec, stream) : cudaErrorInvalidValue;
  });
}

// There is nothing to upload: the graph is where it runs.
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return api([&] {
    if (!find_exec(exec)) return cudaErrorInvalidValue;
    return enqueue(stream, EmptyWork{});
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return api([&] {
    const GraphExecRef exec = find_exec(handle);
    const GraphRef found = find_graph(graph);
    if (!exec || !found || !result) return cudaErrorInvalidValue;
    return update(*exec, found, result);
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return with_step(exec, node, [&](GraphExec::Step& step) {
    const cudaGraphNodeType type = node_type(step.work);
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy &&
        type != cudaGraphNodeTypeMemset)
      return cudaErrorInvalidValue;
    step.enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return with_step(exec, node, [&](GraphExec::Step& step) {
    return enabled ? (*enabled = step.enabled, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* params) {
  return change_step(exec, node, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return change_step(exec, node, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return change_step(exec, node, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return change_step(exec, node,
                     [&](Work* work) { return flat_copy(to, from, bytes, kind, work); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  return change_step(exec, node, [&](Work* work) {
    return symbol_copy(symbol, const_cast<void*>(from), bytes, offset, kind, false, work);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
  return change_step(exec, node, [&](Work* work) {
    return symbol_copy(symbol, to, bytes, offset, kind, true, work);
  });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return change_step(exec, node, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return change_step(exec, node, [&](Work* work) { return work_of(params, work); });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return api([&] {
    const GraphExecRef exec = find_exec(handle);
    const GraphRef graph = find_graph(child);
    if (!exec || !graph) return cudaErrorInvalidValue;
    const std::lock_guard lock(exec->mutex);
    GraphExec::Step* step = find_step(*exec, reinterpret_cast<const GraphNode*>(node));
    if (!step || !std::holds_alternative<ChildWork>(step->work)) return cudaErrorInvalidValue;
    return update_child(*exec, *step, graph);
  });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return change_step(exec, node, [&](Work* work) { return event_record(event, work); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return change_step(exec, node, [&](Work* work) { return event_wait(event, work); });
}

}  // extern "C"
