// Conditional nodes: a node with graphs of its own, its bodies, of which a variable that kernels
// set chooses one, or that it repeats.
#pragma once

#include <memory>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/exec/conditions.h"

namespace ridge::vm::cudart {

struct Graph;

struct ConditionalWork {
  ConditionRef condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies = {};
  std::shared_ptr<std::vector<cudaGraph_t>> handles = {};  // of the bodies, as the program has them

  // Which body runs now; where there is no such one, none does.
  size_t choose() const;
};

cudaError_t create_condition(Graph& graph, unsigned initial, unsigned flags, uint64_t* handle);

// A node of `graph` for a condition of that graph, or of one that it lies in.
cudaError_t make_conditional(Graph& graph, uint64_t handle, cudaGraphConditionalNodeType type,
                             unsigned size, ConditionalWork* work);

// Such graphs cannot be cloned, be child graphs, or be instantiated twice at a time.
bool has_conditional_nodes(const Graph& graph);

// What keeps a graph from being instantiated, and the node.
struct BadConditional {
  cudaGraphInstantiateResult result = cudaGraphInstantiateSuccess;
  cudaGraphNode_t node = nullptr;
};
// Every condition decides about a node, and bodies hold only what a body may hold.
BadConditional check_conditionals(const Graph& graph);

// The conditions of the graph and of the bodies in it.
std::vector<ConditionRef> conditions_of(const Graph& graph);

}  // namespace ridge::vm::cudart
