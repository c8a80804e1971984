#include "vm/cudart/graph/graph.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "vm/cudart/handles.h"

namespace ridge::vm::cudart {
namespace {

// Every live node and graph, so that a stale handle is found out.
struct Live {
  std::mutex mutex;
  std::unordered_set<const void*> nodes;
  Handles<Graph> graphs;
  std::unordered_map<const void*, std::weak_ptr<Graph>> borrowed;
};
Live& live() {
  static auto& instance = *new Live;
  return instance;
}

}  // namespace

Graph::~Graph() {
  const std::lock_guard lock(live().mutex);
  for (const auto& node : nodes) live().nodes.erase(node.get());
  live().borrowed.erase(this);
}

GraphNode* Graph::add(Work work, const std::vector<GraphNode*>& dependencies,
                      const EdgeKinds& edges) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->work = std::move(work);
  GraphNode* raw = node.get();
  nodes.push_back(std::move(node));
  for (GraphNode* dependency : dependencies)
    if (!connected(dependency, raw)) {
      const auto kind = edges.find(dependency);
      connect(dependency, raw, kind == edges.end() ? cudaGraphEdgeData{} : kind->second);
    }
  const std::lock_guard lock(live().mutex);
  live().nodes.insert(raw);
  return raw;
}

void Graph::remove(GraphNode* node) {
  while (!node->dependencies.empty()) disconnect(node->dependencies.back(), node);
  while (!node->dependents.empty()) disconnect(node, node->dependents.back());
  {
    const std::lock_guard lock(live().mutex);
    live().nodes.erase(node);
  }
  std::erase_if(nodes, [&](const auto& other) { return other.get() == node; });
}

size_t Graph::edges() const {
  size_t count = 0;
  for (const auto& node : nodes) count += node->dependencies.size();
  return count;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->objects = objects;
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->graph = child->graph->clone();
    GraphNode* made = copy->add(std::move(work), {});
    made->original = node.get();
    copies[node.get()] = made;
  }
  for (const auto& node : nodes)
    for (const GraphNode* dependency : node->dependencies)
      connect(copies.at(dependency), copies.at(node.get()), edge_kind(dependency, node.get()));
  return copy;
}

std::optional<std::vector<GraphNode*>> Graph::order() const {
  std::unordered_map<const GraphNode*, size_t> waiting;
  std::vector<GraphNode*> sorted;
  for (const auto& node : nodes) {
    waiting[node.get()] = node->dependencies.size();
    if (node->dependencies.empty()) sorted.push_back(node.get());
  }
  for (size_t i = 0; i < sorted.size(); ++i)
    for (GraphNode* next : sorted[i]->dependents)
      if (--waiting[next] == 0) sorted.push_back(next);
  if (sorted.size() != nodes.size()) return std::nullopt;
  return sorted;
}

bool connected(const GraphNode* from, const GraphNode* to) {
  return std::ranges::find(from->dependents, to) != from->dependents.end();
}

void connect(GraphNode* from, GraphNode* to, const cudaGraphEdgeData& kind) {
  from->dependents.push_back(to);
  to->dependencies.push_back(from);
  if (kind.type || kind.from_port) to->edges[from] = kind;
}

cudaGraphEdgeData edge_kind(const GraphNode* from, const GraphNode* to) {
  const auto found = to->edges.find(from);
  return found == to->edges.end() ? cudaGraphEdgeData{} : found->second;
}

bool is_possible(const GraphNode* from, const Work& to, const cudaGraphEdgeData& kind) {
  if (kind.to_port || std::ranges::any_of(kind.reserved, [](unsigned char c) { return c; }))
    return false;
  const bool from_kernel = std::holds_alternative<KernelWork>(from->work);
  const bool to_kernel = std::holds_alternative<KernelWork>(to);
  const bool programmatic = kind.type == cudaGraphDependencyTypeProgrammatic;
  if (!programmatic && kind.type != cudaGraphDependencyTypeDefault) return false;
  switch (kind.from_port) {
    case cudaGraphKernelNodePortDefault: return !programmatic || (from_kernel && to_kernel);
    case cudaGraphKernelNodePortProgrammatic: return programmatic && from_kernel && to_kernel;
    case cudaGraphKernelNodePortLaunchCompletion:
      return from_kernel && (to_kernel || !programmatic);
    default: return false;
  }
}

bool lets_begin_early(const cudaGraphEdgeData& kind) {
  return kind.type == cudaGraphDependencyTypeProgrammatic &&
         kind.from_port == cudaGraphKernelNodePortProgrammatic;
}

bool disconnect(GraphNode* from, GraphNode* to) {
  to->edges.erase(from);
  return std::erase(from->dependents, to) + std::erase(to->dependencies, from) > 0;
}

cudaGraph_t graph_handle(GraphRef graph) {
  return static_cast<cudaGraph_t>(live().graphs.add(std::move(graph)));
}

cudaGraph_t borrowed_handle(const GraphRef& graph) {
  const std::lock_guard lock(live().mutex);
  live().borrowed[graph.get()] = graph;
  return reinterpret_cast<cudaGraph_t>(graph.get());
}

GraphRef find_graph(cudaGraph_t handle) {
  if (GraphRef owned = live().graphs.find(handle)) return owned;
  const std::lock_guard lock(live().mutex);
  const auto found = live().borrowed.find(handle);
  return found == live().borrowed.end() ? nullptr : found->second.lock();
}

GraphRef take_graph(cudaGraph_t handle) { return live().graphs.take(handle); }

bool destroy_graph(cudaGraph_t handle) { return take_graph(handle) != nullptr; }

GraphNode* find_node(cudaGraphNode_t handle) {
  const std::lock_guard lock(live().mutex);
  auto* node = reinterpret_cast<GraphNode*>(handle);
  return live().nodes.contains(node) ? node : nullptr;
}

}  // namespace ridge::vm::cudart
