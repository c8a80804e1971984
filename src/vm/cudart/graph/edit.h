// Adding nodes to graphs and changing what they do, for whatever describes the work: `make` builds
// it.
#pragma once

#include <utility>

#include "vm/cudart/errors.h"
#include "vm/cudart/graph/exec.h"
#include "vm/cudart/graph/graph.h"

namespace ridge::vm::cudart {

template <class Make>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* dependencies,
                     size_t count, Make&& make, const cudaGraphEdgeData* kinds = nullptr) {
  return api([&] {
    const GraphRef graph = find_graph(handle);
    if (!node || !graph || (count && !dependencies)) return cudaErrorInvalidValue;
    std::vector<GraphNode*> after;
    for (size_t i = 0; i < count; ++i) {
      GraphNode* dependency = find_node(dependencies[i]);
      if (!dependency || dependency->graph != graph.get()) return cudaErrorInvalidValue;
      after.push_back(dependency);
    }
    Work work;
    if (const cudaError_t error = make(&work)) return error;
    EdgeKinds edges;
    for (size_t i = 0; kinds && i < count; ++i) {
      if (!is_possible(after[i], work, kinds[i])) return cudaErrorInvalidValue;
      if (kinds[i].type || kinds[i].from_port) edges[after[i]] = kinds[i];
    }
    *node = node_handle(graph->add(std::move(work), after, edges));
    return cudaSuccess;
  });
}

// The same for a conditional node; `Params` are the runtime's or the driver's.
template <class Params>
cudaError_t add_conditional_node(cudaGraphNode_t* node, cudaGraph_t handle,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 Params& params) {
  return add_node(node, handle, dependencies, count, [&](Work* work) {
    ConditionalWork made;
    const auto type = cudaGraphConditionalNodeType(params.type);
    if (const cudaError_t error =
            make_conditional(*find_graph(handle), params.handle, type, params.size, &made))
      return error;
    params.phGraph_out = made.handles->data();
    *work = std::move(made);
    return cudaSuccess;
  });
}

// Replaces a node's work by another of the same kind.
template <class Make>
cudaError_t change_node(cudaGraphNode_t handle, Make&& make) {
  return api([&] {
    GraphNode* node = find_node(handle);
    Work work;
    if (!node) return cudaErrorInvalidValue;
    if (const cudaError_t error = make(&work)) return error;
    if (work.index() != node->work.index()) return cudaErrorInvalidValue;
    replace(node->work, std::move(work));
    return cudaSuccess;
  });
}

template <class Body>
cudaError_t with_step(cudaGraphExec_t handle, cudaGraphNode_t node, Body&& body) {
  return api([&] {
    const GraphExecRef exec = find_exec(handle);
    if (!exec) return cudaErrorInvalidValue;
    const std::lock_guard lock(exec->mutex);
    GraphExec::Step* step = find_step(*exec, reinterpret_cast<const GraphNode*>(node));
    return step ? body(*step) : cudaErrorInvalidValue;
  });
}

// The same for a node of an executable graph; launches already submitted keep the old work.
template <class Make>
cudaError_t change_step(cudaGraphExec_t exec, cudaGraphNode_t node, Make&& make) {
  return with_step(exec, node, [&](GraphExec::Step& step) {
    Work work;
    if (const cudaError_t error = make(&work)) return error;
    if (work.index() != step.work.index()) return cudaErrorInvalidValue;
    replace(step.work, std::move(work));
    return cudaSuccess;
  });
}

}  // namespace ridge::vm::cudart
