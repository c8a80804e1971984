#include "vm/cudart/graph/conditional.h"

#include <algorithm>

#include "vm/cudart/graph/graph.h"

namespace ridge::vm::cudart {
namespace {

template <class Visit>
void for_each_conditional(const Graph& graph, Visit visit) {
  for (const auto& node : graph.nodes)
    if (const auto* work = std::get_if<ConditionalWork>(&node->work)) {
      visit(*work);
      for (const GraphRef& body : work->bodies) for_each_conditional(*body, visit);
    }
}

bool decides(const Graph& graph, const Condition* condition) {
  bool found = false;
  for_each_conditional(graph, [&](const ConditionalWork& work) {
    found = found || work.condition.get() == condition;
  });
  return found;
}

bool is_size_allowed(cudaGraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case cudaGraphCondTypeIf: return size == 1 || size == 2;
    case cudaGraphCondTypeWhile: return size == 1;
    case cudaGraphCondTypeSwitch: return size > 0;
  }
  return false;
}

bool may_be_in_body(const Work& work) {
  switch (node_type(work)) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeConditional: return true;
    default: return false;
  }
}

// The first node that a body may not have; also in child graphs and bodies of bodies.
GraphNode* find_forbidden(const Graph& body) {
  for (const auto& node : body.nodes) {
    if (!may_be_in_body(node->work)) return node.get();
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      if (GraphNode* found = find_forbidden(*child->graph)) return found;
    if (const auto* work = std::get_if<ConditionalWork>(&node->work))
      for (const GraphRef& inner : work->bodies)
        if (GraphNode* found = find_forbidden(*inner)) return found;
  }
  return nullptr;
}

}  // namespace

size_t ConditionalWork::choose() const {
  const uint32_t value = condition->value.load(std::memory_order_acquire);
  switch (type) {
    case cudaGraphCondTypeIf: return value ? 0 : 1;
    case cudaGraphCondTypeWhile: return value ? 0 : 1;
    case cudaGraphCondTypeSwitch: break;
  }
  return value;
}

cudaError_t create_condition(Graph& graph, unsigned initial, unsigned flags, uint64_t* handle) {
  if (!handle || (flags & ~unsigned(cudaGraphCondAssignDefault))) return cudaErrorInvalidValue;
  graph.conditions.push_back(make_condition(initial, flags & cudaGraphCondAssignDefault));
  *handle = graph.conditions.back()->handle;
  return cudaSuccess;
}

cudaError_t make_conditional(Graph& graph, uint64_t handle, cudaGraphConditionalNodeType type,
                             unsigned size, ConditionalWork* work) {
  if (!is_size_allowed(type, size)) return cudaErrorInvalidValue;
  const ConditionRef condition = find_condition(handle);
  const Graph* owner = &graph;
  while (owner && !std::ranges::count(owner->conditions, condition)) owner = owner->around;
  if (!condition || !owner || decides(*owner, condition.get())) return cudaErrorInvalidValue;
  work->condition = condition;
  work->type = type;
  work->handles = std::make_shared<std::vector<cudaGraph_t>>();
  for (unsigned i = 0; i < size; ++i) {
    work->bodies.push_back(std::make_shared<Graph>());
    work->bodies.back()->around = &graph;
    work->handles->push_back(borrowed_handle(work->bodies.back()));
  }
  return cudaSuccess;
}

bool has_conditional_nodes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) {
    return std::holds_alternative<ConditionalWork>(node->work);
  });
}

BadConditional check_conditionals(const Graph& graph) {
  for (const ConditionRef& condition : conditions_of(graph))
    if (!decides(graph, condition.get())) return {cudaGraphInstantiateConditionalHandleUnused};
  BadConditional bad;
  for_each_conditional(graph, [&](const ConditionalWork& work) {
    for (const GraphRef& body : work.bodies)
      if (GraphNode* node = bad.node ? nullptr : find_forbidden(*body))
        bad = {cudaGraphInstantiateNodeOperationNotSupported, node_handle(node)};
  });
  return bad;
}

std::vector<ConditionRef> conditions_of(const Graph& graph) {
  std::vector<ConditionRef> all = graph.conditions;
  for_each_conditional(graph, [&](const ConditionalWork& work) {
    for (const GraphRef& body : work.bodies)
      all.insert(all.end(), body->conditions.begin(), body->conditions.end());
  });
  return all;
}

}  // namespace ridge::vm::cudart
