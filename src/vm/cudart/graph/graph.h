// A graph: pieces of work and the order they need. Nodes keep the order they were added in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/graph/user_objects.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {

struct GraphNode;
// Edges that are not plain ones, by the node that they come from.
using EdgeKinds = std::map<const GraphNode*, cudaGraphEdgeData>;

struct GraphNode {
  Graph* graph = nullptr;
  Work work;
  std::vector<GraphNode*> dependencies;
  std::vector<GraphNode*> dependents;
  EdgeKinds edges;                       // from dependencies
  const GraphNode* original = nullptr;   // what this one was cloned from
  std::vector<void*> argument_pointers;  // what cudaGraphKernelNodeGetParams hands out
};

struct GraphExec;

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::vector<HeldObject> objects;    // user objects, as long as the graph is
  std::weak_ptr<GraphExec> instance;  // the newest executable graph
  std::vector<ConditionRef> conditions;
  const Graph* around = nullptr;  // of the body of a conditional node: the graph of that node

  Graph() = default;
  Graph(const Graph&) = delete;
  ~Graph();

  GraphNode* add(Work work, const std::vector<GraphNode*>& dependencies,
                 const EdgeKinds& edges = {});
  void remove(GraphNode* node);
  size_t edges() const;
  std::shared_ptr<Graph> clone() const;
  // Every node after those it depends on; nothing when the edges form a cycle.
  std::optional<std::vector<GraphNode*>> order() const;
};
using GraphRef = std::shared_ptr<Graph>;

bool connected(const GraphNode* from, const GraphNode* to);
void connect(GraphNode* from, GraphNode* to, const cudaGraphEdgeData& kind = {});
// The kind of an edge that is there.
cudaGraphEdgeData edge_kind(const GraphNode* from, const GraphNode* to);
// Whether there can be such an edge: only kernels have ports, and only a kernel can begin before
// the one that it depends on has ended.
bool is_possible(const GraphNode* from, const Work& to, const cudaGraphEdgeData& kind);
bool lets_begin_early(const cudaGraphEdgeData& kind);  // cudaGraphKernelNodePortProgrammatic
inline constexpr cudaGraphEdgeData kProgrammaticEdge{
    .from_port = cudaGraphKernelNodePortProgrammatic,
    .to_port = 0,
    .type = cudaGraphDependencyTypeProgrammatic,
    .reserved = {}};
inline constexpr cudaGraphEdgeData kLaunchCompletionEdge{
    .from_port = cudaGraphKernelNodePortLaunchCompletion,
    .to_port = 0,
    .type = cudaGraphDependencyTypeProgrammatic,
    .reserved = {}};
bool disconnect(GraphNode* from, GraphNode* to);

cudaGraph_t graph_handle(GraphRef graph);  // owns the graph until destroyed
// A child node's or a capture's: valid as long as its owner.
cudaGraph_t borrowed_handle(const GraphRef& graph);
GraphRef find_graph(cudaGraph_t handle);  // null: no such graph
bool destroy_graph(cudaGraph_t handle);
GraphRef take_graph(cudaGraph_t handle);       // away from the program; null: not its own
GraphNode* find_node(cudaGraphNode_t handle);  // null: no such node
inline cudaGraphNode_t node_handle(GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(node);
}

}  // namespace ridge::vm::cudart
