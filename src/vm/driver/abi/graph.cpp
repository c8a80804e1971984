// Graphs, and launching them. Adding and changing nodes is in graph_node.cpp.
#include "vm/driver/result.h"
#include "vm/driver/same.h"

using namespace ridge::vm::driver;

namespace {}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return driver_call([&] { return cudaGraphCreate(graph, flags); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return driver_call([&] { return cudaGraphDestroy(graph); });
}
CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return driver_call([&] { return cudaGraphClone(clone, original); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return driver_call([&] { return cudaGraphNodeFindInClone(found, original, clone); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return driver_call(
      [&] { return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type)); });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return driver_call([&] { return cudaGraphGetNodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return driver_call([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return driver_call([&] { return cudaGraphDestroyNode(node); });
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return driver_call([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  return driver_call([&] { return cudaGraphGetEdges(graph, from, to, same(data), count); });
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       size_t* count) {
  return driver_call([&] { return cudaGraphNodeGetDependencies(node, nodes, same(data), count); });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  return driver_call(
      [&] { return cudaGraphNodeGetDependentNodes(node, nodes, same(data), count); });
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return driver_call([&] { return cudaGraphAddDependencies(graph, from, to, same(data), count); });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, size_t count) {
  return driver_call(
      [&] { return cudaGraphRemoveDependencies(graph, from, to, same(data), count); });
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return context_call([&] { return cudaGraphInstantiateWithFlags(exec, graph, flags); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  static_assert(sizeof *params == sizeof(cudaGraphInstantiateParams));
  return context_call([&] {
    return cudaGraphInstantiateWithParams(exec, graph,
                                          reinterpret_cast<cudaGraphInstantiateParams*>(params));
  });
}
CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* wrong, char* log,
                               size_t bytes) {
  if (wrong) *wrong = nullptr;
  if (log && bytes) *log = '\0';
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* wrong, char* log,
                            size_t bytes) {
  return cuGraphInstantiate_v2(exec, graph, wrong, log, bytes);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return driver_call([&] { return cudaGraphExecDestroy(exec); });
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return driver_call([&] {
    unsigned long long value = 0;
    if (const cudaError_t error = cudaGraphExecGetFlags(exec, &value)) return error;
    return answer<cuuint64_t>(flags, value);
  });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return context_call([&] { return cudaGraphLaunch(exec, stream); });
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return context_call([&] { return cudaGraphUpload(exec, stream); });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                              CUgraphExecUpdateResultInfo* result) {
  static_assert(sizeof *result == sizeof(cudaGraphExecUpdateResultInfo));
  return context_call([&] {
    return cudaGraphExecUpdate(exec, graph,
                               reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
  });
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* wrong,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult outcome = cuGraphExecUpdate_v2(exec, graph, &info);
  if (wrong) *wrong = info.errorNode;
  if (result) *result = info.result;
  return outcome;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return driver_call([&] { return cudaGraphNodeSetEnabled(exec, node, enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  return driver_call([&] { return cudaGraphNodeGetEnabled(exec, node, enabled); });
}

}  // extern "C"
