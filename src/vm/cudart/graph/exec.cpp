#include "vm/cudart/graph/exec.h"

#include <algorithm>
#include <unordered_map>

#include "vm/cudart/capture.h"
#include "vm/cudart/handles.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"

namespace ridge::vm::cudart {
namespace {

Handles<GraphExec>& handles() {
  static auto& all = *new Handles<GraphExec>;
  return all;
}

// A child graph's steps stand where its node stands; the node itself stays, as the step others wait
// for.
bool append(const Graph& graph, std::vector<GraphExec::Step>& steps) {
  const auto order = graph.order();
  if (!order) return false;
  std::unordered_map<const GraphNode*, size_t> place;
  for (const GraphNode* node : *order) {
    std::vector<size_t> after;
    for (const GraphNode* dependency : node->dependencies) after.push_back(place.at(dependency));
    if (const auto* child = std::get_if<ChildWork>(&node->work);
        child && !append(*child->graph, steps))
      return false;
    place[node] = steps.size();
    steps.push_back({node, node->work, std::move(after)});
  }
  return true;
}

bool same_shape(const GraphExec::Step& a, const GraphExec::Step& b) {
  return node_type(a.work) == node_type(b.work) && a.after == b.after;
}

}  // namespace

cudaError_t instantiate(const GraphRef& graph, unsigned long long flags, GraphExecRef* exec) {
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                        cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagUseNodePriority;
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) return cudaErrorNotSupported;
  if (flags & ~kKnown) return cudaErrorInvalidValue;
  auto made = std::make_shared<GraphExec>();
  made->flags = flags;
  if (!append(*graph, made->steps)) return cudaErrorInvalidValue;
  *exec = std::move(made);
  return cudaSuccess;
}

// One operation of the stream runs the steps one after the other: any order that satisfies the
// edges is a right one.
cudaError_t launch(const GraphExecRef& exec, cudaStream_t handle) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  const std::lock_guard lock(exec->mutex);
  if (const CaptureRef capture = capture_of(stream)) {
    auto graph = std::make_shared<Graph>();
    std::vector<GraphNode*> nodes;
    for (const GraphExec::Step& step : exec->steps) {
      std::vector<GraphNode*> after;
      for (const size_t i : step.after) after.push_back(nodes[i]);
      if (!std::holds_alternative<ChildWork>(step.work))
        nodes.push_back(graph->add(step.work, after));
      else nodes.push_back(graph->add(EmptyWork{}, after));
    }
    return capture_work(capture, stream, ChildWork{std::move(graph)});
  }
  if (const cudaError_t error = check_implicit(stream)) return error;
  std::vector<Work> works;
  for (const GraphExec::Step& step : exec->steps)
    if (step.enabled) works.push_back(step.work);
  exec->last = runtime().scheduler.submit(stream,
                                          [&on = *stream, works = std::move(works)] {
                                            for (const Work& work : works) execute(on, work);
                                          },
                                          {exec->last});
  return cudaSuccess;
}

cudaError_t update(GraphExec& exec, const GraphRef& graph, cudaGraphExecUpdateResultInfo* result) {
  const auto fail = [&](cudaGraphExecUpdateResult why, const GraphNode* node) {
    *result = {why, reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node)), nullptr};
    return cudaErrorGraphExecUpdateFailure;
  };
  const std::lock_guard lock(exec.mutex);
  std::vector<GraphExec::Step> steps;
  if (!append(*graph, steps)) return fail(cudaGraphExecUpdateError, nullptr);
  if (steps.size() != exec.steps.size())
    return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (node_type(steps[i].work) != node_type(exec.steps[i].work))
      return fail(cudaGraphExecUpdateErrorNodeTypeChanged, steps[i].node);
    if (!same_shape(steps[i], exec.steps[i]))
      return fail(cudaGraphExecUpdateErrorTopologyChanged, steps[i].node);
  }
  for (size_t i = 0; i < steps.size(); ++i) exec.steps[i].work = std::move(steps[i].work);
  *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return cudaSuccess;
}

GraphExec::Step* find_step(GraphExec& exec, const GraphNode* node) {
  const auto step = std::ranges::find(exec.steps, node, &GraphExec::Step::node);
  return step == exec.steps.end() ? nullptr : &*step;
}

cudaGraphExec_t exec_handle(GraphExecRef exec) {
  return static_cast<cudaGraphExec_t>(handles().add(std::move(exec)));
}
GraphExecRef find_exec(cudaGraphExec_t handle) { return handles().find(handle); }
bool destroy_exec(cudaGraphExec_t handle) { return handles().take(handle) != nullptr; }

}  // namespace ridge::vm::cudart
