// Nodes of graphs: adding them, reading and changing what they do, there and in executable graphs.
#include "vm/cudart/graph/edit.h"
#include "vm/cudart/graph/params.h"
#include "vm/driver/contexts.h"
#include "vm/driver/graph_params.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::GraphNode;
using ridge::vm::cudart::Work;

namespace {

// A node that does what `params` say.
template <class Params>
CUresult add(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
             const Params* params, const CUgraphEdgeData* kinds = nullptr) {
  static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
  return driver_call([&] {
    return ridge::vm::cudart::add_node(
        node, graph, after, count, [&](Work* work) { return work_of(params, work); },
        reinterpret_cast<const cudaGraphEdgeData*>(kinds));
  });
}

template <class Params>
CUresult change(CUgraphNode node, const Params* params) {
  return driver_call([&] {
    return ridge::vm::cudart::change_node(node, [&](Work* work) { return work_of(params, work); });
  });
}

template <class Params>
CUresult change_step(CUgraphExec exec, CUgraphNode node, const Params* params) {
  return driver_call([&] {
    return ridge::vm::cudart::change_step(exec, node,
                                          [&](Work* work) { return work_of(params, work); });
  });
}

template <class Params>
CUresult read(CUgraphNode handle, Params* params) {
  return driver_call([&] {
    GraphNode* node = ridge::vm::cudart::find_node(handle);
    return node ? params_of(*node, params) : cudaErrorInvalidValue;
  });
}

// Copies and fills name the context they run in.
bool is_context(CUcontext context) { return find_context(context) != nullptr; }

}  // namespace

extern "C" {

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                        CUcontext context, unsigned initial, unsigned flags) {
  return driver_call([&] {
    const auto found = ridge::vm::cudart::find_graph(graph);
    if (!found || !handle || !is_context(context)) return cudaErrorInvalidValue;
    uint64_t made = 0;
    const cudaError_t error = ridge::vm::cudart::create_condition(*found, initial, flags, &made);
    if (!error) *handle = made;
    return error;
  });
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                           const CUgraphEdgeData* kinds, size_t count, CUgraphNodeParams* params) {
  if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    static_assert(sizeof params->alloc == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
    return cuGraphAddMemAllocNode(node, graph, after, count,
                                  reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(&params->alloc));
  }
  if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return cuGraphAddMemFreeNode(node, graph, after, count, params->free.dptr);
  if (params && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    return driver_call([&] {
      if (!is_context(params->conditional.ctx)) return cudaErrorInvalidValue;
      return ridge::vm::cudart::add_conditional_node(node, graph, after, count,
                                                     params->conditional);
    });
  return add(node, graph, after, count, params, kinds);
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                        CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, params);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return change(node, params);
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  return change_step(exec, node, params);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return add(node, graph, after, count, params);
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return add(node, graph, after, count, params);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return read(node, params);
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return read(node, params);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return change(node, params);
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return change(node, params);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  return change_step(exec, node, params);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return change_step(exec, node, params);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMCPY3D* params, CUcontext context) {
  if (!is_context(context)) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, after, count, params);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return read(node, params);
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return change(node, params);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* params, CUcontext context) {
  if (!is_context(context)) return CUDA_ERROR_INVALID_VALUE;
  return change_step(exec, node, params);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                              CUcontext context) {
  if (!is_context(context)) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, after, count, params);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return read(node, params);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return change(node, params);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  if (!is_context(context)) return CUDA_ERROR_INVALID_VALUE;
  return change_step(exec, node, params);
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                            size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return add(node, graph, after, count, params);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return read(node, params);
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return change(node, params);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* params) {
  return change_step(exec, node, params);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             size_t count) {
  return driver_call([&] { return cudaGraphAddEmptyNode(node, graph, after, count); });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  size_t count, CUgraph child) {
  return driver_call([&] { return cudaGraphAddChildGraphNode(node, graph, after, count, child); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return driver_call([&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return driver_call([&] { return cudaGraphExecChildGraphNodeSetParams(exec, node, child); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   size_t count, CUevent event) {
  return driver_call([&] { return cudaGraphAddEventRecordNode(node, graph, after, count, event); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return driver_call([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return driver_call([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return driver_call([&] { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, CUevent event) {
  return driver_call([&] { return cudaGraphAddEventWaitNode(node, graph, after, count, event); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return driver_call([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return driver_call([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return driver_call([&] { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event); });
}

}  // extern "C"
