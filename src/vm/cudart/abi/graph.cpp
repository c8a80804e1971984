// Graphs: their nodes' order, and the graphs themselves. Adding and changing nodes is in
// graph_node.cpp.
#include "vm/cudart/graph/graph.h"

#include <algorithm>
#include <cstdio>

#include "vm/cudart/errors.h"
#include "vm/cudart/graph/memory.h"

using namespace ridge::vm::cudart;

namespace {

template <class Body>
cudaError_t with_graph(cudaGraph_t handle, Body&& body) {
  return api([&] {
    const GraphRef graph = find_graph(handle);
    return graph ? body(*graph) : cudaErrorInvalidValue;
  });
}

template <class Body>
cudaError_t with_node(cudaGraphNode_t handle, Body&& body) {
  return api([&] {
    GraphNode* node = find_node(handle);
    return node ? body(*node) : cudaErrorInvalidValue;
  });
}

// The runtime's way to hand out lists: without an array the count, with one as many as fit and null
// for the rest.
cudaError_t list(const std::vector<GraphNode*>& nodes, cudaGraphNode_t* out, size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  if (!out) {
    *count = nodes.size();
    return cudaSuccess;
  }
  for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? node_handle(nodes[i]) : nullptr;
  *count = std::min(*count, nodes.size());
  return cudaSuccess;
}

struct Edge {
  GraphNode *from, *to;
  cudaGraphEdgeData kind;
};

cudaError_t edges_of(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                     const cudaGraphEdgeData* kinds, size_t count, std::vector<Edge>* edges) {
  const GraphRef owner = find_graph(graph);
  if (!owner || (count && (!from || !to))) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const Edge edge{find_node(from[i]), find_node(to[i]), kinds ? kinds[i] : cudaGraphEdgeData{}};
    if (!edge.from || !edge.to || edge.from->graph != owner.get() || edge.to->graph != owner.get())
      return cudaErrorInvalidValue;
    if (!is_possible(edge.from, edge.to->work, edge.kind)) return cudaErrorInvalidValue;
    edges->push_back(edge);
  }
  return cudaSuccess;
}

// Whether a list of plain edges would leave something out.
bool has_kinds(const std::vector<GraphNode*>& from, const std::vector<GraphNode*>& to) {
  for (size_t i = 0; i < from.size(); ++i)
    if (to[i]->edges.contains(from[i])) return true;
  return false;
}

bool has_its_kind(const Edge& edge) {
  const cudaGraphEdgeData there = edge_kind(edge.from, edge.to);
  return there.type == edge.kind.type && there.from_port == edge.kind.from_port;
}

const char* label(const Work& work) {
  constexpr const char* kLabels[] = {"KERNEL",       "MEMCPY",     "MEMSET",     "HOST",
                                     "GRAPH",        "EMPTY",      "WAIT_EVENT", "EVENT_RECORD",
                                     "EXT_SIGNAL",   "EXT_WAIT",   "MEM_ALLOC",  "MEM_FREE",
                                     "BATCH_MEM_OP", "CONDITIONAL"};
  const size_t type = size_t(node_type(work));
  return type < std::size(kLabels) ? kLabels[type] : "NODE";
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return api([&] {
    if (!graph || flags) return cudaErrorInvalidValue;
    *graph = graph_handle(std::make_shared<Graph>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api([&] { return destroy_graph(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return with_graph(original, [&](Graph& graph) {
    if (!clone) return cudaErrorInvalidValue;
    if (has_memory_nodes(graph) || has_conditional_nodes(graph)) return cudaErrorNotSupported;
    *clone = graph_handle(graph.clone());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return with_graph(clone, [&](Graph& graph) {
    if (!found) return cudaErrorInvalidValue;
    for (const auto& node : graph.nodes)
      if (node_handle(const_cast<GraphNode*>(node->original)) == original) {
        *found = node_handle(node.get());
        return cudaSuccess;
      }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return with_node(node, [&](GraphNode& n) {
    return type ? (*type = node_type(n.work), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph(graph, [&](Graph& g) {
    std::vector<GraphNode*> all;
    for (const auto& node : g.nodes) all.push_back(node.get());
    return list(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph(graph, [&](Graph& g) {
    std::vector<GraphNode*> roots;
    for (const auto& node : g.nodes)
      if (node->dependencies.empty()) roots.push_back(node.get());
    return list(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return with_graph(graph, [&](Graph& g) {
    if (!count || !from != !to) return cudaErrorInvalidValue;
    std::vector<GraphNode*> starts, ends;
    for (const auto& node : g.nodes)
      for (GraphNode* next : node->dependents) {
        starts.push_back(node.get());
        ends.push_back(next);
      }
    if (!data && from && has_kinds(starts, ends)) return cudaErrorLossyQuery;
    for (size_t i = 0; data && from && i < *count; ++i)
      data[i] = i < starts.size() ? edge_kind(starts[i], ends[i]) : cudaGraphEdgeData{};
    size_t same = *count;
    if (const cudaError_t error = list(starts, from, &same)) return error;
    return list(ends, to, count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* data, size_t* count) {
  return with_node(node, [&](GraphNode& n) {
    if (!data && dependencies && !n.edges.empty()) return cudaErrorLossyQuery;
    for (size_t i = 0; data && dependencies && count && i < *count; ++i)
      data[i] = i < n.dependencies.size() ? edge_kind(n.dependencies[i], &n) : cudaGraphEdgeData{};
    return list(n.dependencies, dependencies, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* data, size_t* count) {
  return with_node(node, [&](GraphNode& n) {
    if (!data && dependents && has_kinds(std::vector(n.dependents.size(), &n), n.dependents))
      return cudaErrorLossyQuery;
    for (size_t i = 0; data && dependents && count && i < *count; ++i)
      data[i] = i < n.dependents.size() ? edge_kind(&n, n.dependents[i]) : cudaGraphEdgeData{};
    return list(n.dependents, dependents, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* kinds,
                                     size_t count) {
  return api([&] {
    std::vector<Edge> edges;
    if (const cudaError_t error = edges_of(graph, from, to, kinds, count, &edges)) return error;
    for (const Edge& edge : edges)
      if (edge.from == edge.to || connected(edge.from, edge.to)) return cudaErrorInvalidValue;
    for (const Edge& edge : edges) connect(edge.from, edge.to, edge.kind);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* kinds,
                                        size_t count) {
  return api([&] {
    std::vector<Edge> edges;
    if (const cudaError_t error = edges_of(graph, from, to, kinds, count, &edges)) return error;
    for (const Edge& edge : edges)
      if (!connected(edge.from, edge.to) || !has_its_kind(edge)) return cudaErrorInvalidValue;
    if (has_memory_nodes(*find_graph(graph))) return cudaErrorNotSupported;
    for (const Edge& edge : edges) disconnect(edge.from, edge.to);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return with_node(node, [](GraphNode& n) {
    if (has_memory_nodes(*n.graph)) return cudaErrorNotSupported;
    n.graph->remove(&n);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return with_graph(graph, [&](Graph& g) {
    FILE* file = path ? std::fopen(path, "we") : nullptr;
    if (!file) return path ? cudaErrorOperatingSystem : cudaErrorInvalidValue;
    std::fprintf(file, "digraph dot {\n");
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      std::fprintf(file, "  n%zu [label=\"%zu %s\"];\n", i, i, label(g.nodes[i]->work));
      for (const GraphNode* next : g.nodes[i]->dependents) {
        const auto at = std::ranges::find(g.nodes, next, [](const auto& p) { return p.get(); }) -
                        g.nodes.begin();
        std::fprintf(file, "  n%zu -> n%zu;\n", i, size_t(at));
      }
    }
    std::fprintf(file, "}\n");
    std::fclose(file);
    return cudaSuccess;
  });
}

}  // extern "C"
