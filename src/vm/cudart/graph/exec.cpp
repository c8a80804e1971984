#include "vm/cudart/graph/exec.h"

#include <algorithm>
#include <iterator>
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
    const size_t first = steps.size();
    if (const auto* child = std::get_if<ChildWork>(&node->work);
        child && !append(*child->graph, steps))
      return false;
    place[node] = steps.size();
    steps.push_back({node, node->work, std::move(after), first});
  }
  return true;
}

// User objects of the graph and its children.
void collect(const Graph& graph, std::vector<HeldObject>& objects) {
  objects.insert(objects.end(), graph.objects.begin(), graph.objects.end());
  for (const auto& node : graph.nodes)
    if (const auto* child = std::get_if<ChildWork>(&node->work)) collect(*child->graph, objects);
}

void balance(GraphExec& exec) {
  for (const GraphExec::Step& step : exec.steps)
    if (const auto* alloc = std::get_if<AllocWork>(&step.work))
      exec.allocated.push_back(alloc->memory);
  for (const GraphExec::Step& step : exec.steps)
    if (const auto* free = std::get_if<FreeWork>(&step.work))
      if (std::erase(exec.allocated, free->memory) == 0) exec.freed.push_back(free->memory);
}

// The promises of one launch, and what it frees first because an earlier one left it.
cudaError_t settle(const GraphExec& exec, std::vector<Work>& works) {
  std::vector<GraphMemoryRef> left;
  if (exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
    std::ranges::copy_if(exec.allocated, std::back_inserter(left), is_promised);
  exchange_promises({}, left);
  if (!exchange_promises(exec.allocated, exec.freed)) return cudaErrorInvalidValue;
  for (GraphMemoryRef& memory : left) works.emplace_back(FreeWork{std::move(memory)});
  return cudaSuccess;
}

const GraphMemory* memory_of(const Work& work) {
  if (const auto* alloc = std::get_if<AllocWork>(&work)) return alloc->memory.get();
  if (const auto* free = std::get_if<FreeWork>(&work)) return free->memory.get();
  return nullptr;
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
  const bool has_memory = has_memory_nodes(*graph);
  if (has_memory && graph->instance.lock()) return cudaErrorNotSupported;
  auto made = std::make_shared<GraphExec>();
  made->flags = flags;
  if (!append(*graph, made->steps)) return cudaErrorInvalidValue;
  collect(*graph, made->objects);
  if (has_memory) balance(*made);
  graph->instance = made;
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
    if (!exec->allocated.empty() || !exec->freed.empty()) return cudaErrorNotSupported;
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
  if (const cudaError_t error = settle(*exec, works)) return error;
  for (const GraphExec::Step& step : exec->steps)
    if (step.enabled) works.push_back(step.work);
  const auto kept = std::make_shared<const std::vector<Work>>(std::move(works));
  exec->last = runtime().scheduler.submit(stream,
                                          [&on = *stream, kept, objects = exec->objects] {
                                            for (const Work& work : *kept) execute(on, work);
                                          },
                                          {exec->last});
  std::vector<const Work*> each;
  for (const Work& work : *kept) each.push_back(&work);
  tell_uses(exec->last, each);
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
    if (memory_of(steps[i].work) != memory_of(exec.steps[i].work))
      return fail(cudaGraphExecUpdateErrorParametersChanged, steps[i].node);
  }
  for (size_t i = 0; i < steps.size(); ++i) exec.steps[i].work = std::move(steps[i].work);
  *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return cudaSuccess;
}

cudaError_t update_child(GraphExec& exec, GraphExec::Step& child, const GraphRef& graph) {
  const size_t last = size_t(&child - exec.steps.data());
  std::vector<GraphExec::Step> steps(child.first);  // so that steps are numbered as in `exec`
  if (!append(*graph, steps) || steps.size() != last) return cudaErrorInvalidValue;
  for (size_t i = child.first; i < last; ++i)
    if (!same_shape(steps[i], exec.steps[i])) return cudaErrorInvalidValue;
  for (size_t i = child.first; i < last; ++i) exec.steps[i].work = std::move(steps[i].work);
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
