// An instantiated graph: its work in an order that satisfies every edge, ready to be launched again
// and again.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vm/cudart/graph/graph.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/scheduler.h"

namespace ridge::vm::cudart {

struct GraphExec {
  struct Step {
    const GraphNode* node;  // of the graph it came from, for updates; only compared, never followed
    Work work;
    std::vector<size_t> after;        // steps it depends on
    std::vector<size_t> early = {};   // those of them that may let it begin before they have ended
    size_t first = 0;                 // of a child graph: where its steps begin, which end here
    std::vector<size_t> bodies = {};  // of a conditional node: where the steps of each body end,
                                      // the first of which follows this step
    bool enabled = true;
  };
  std::mutex mutex;
  std::vector<Step> steps;
  unsigned long long flags = 0;
  std::vector<HeldObject> objects;
  std::vector<ConditionRef> conditions;
  // What a launch leaves allocated, and what of other graphs it frees.
  std::vector<GraphMemoryRef> allocated, freed;
  Ticket last;  // launches of one executable graph follow each other
};
using GraphExecRef = std::shared_ptr<GraphExec>;

// What is wrong with conditional nodes goes to `bad`, where there is one.
cudaError_t instantiate(const GraphRef& graph, unsigned long long flags, GraphExecRef* exec,
                        BadConditional* bad = nullptr);
cudaError_t launch(const GraphExecRef& exec, cudaStream_t stream);
// The new graph must have the same shape; its parameters replace the old ones.
cudaError_t update(GraphExec& exec, const GraphRef& graph, cudaGraphExecUpdateResultInfo* result);
// The same for the steps of one child graph.
cudaError_t update_child(GraphExec& exec, GraphExec::Step& child, const GraphRef& graph);
// Null: the node is not of this graph.
GraphExec::Step* find_step(GraphExec& exec, const GraphNode* node);

cudaGraphExec_t exec_handle(GraphExecRef exec);
GraphExecRef find_exec(cudaGraphExec_t handle);
bool destroy_exec(cudaGraphExec_t handle);

}  // namespace ridge::vm::cudart
