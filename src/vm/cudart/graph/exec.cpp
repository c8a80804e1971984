#include "vm/cudart/graph/exec.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "vm/cudart/asked.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
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
// for. The steps of a conditional node's bodies follow it: it decides before they run.
bool append(const Graph& graph, std::vector<GraphExec::Step>& steps) {
  const auto order = graph.order();
  if (!order) return false;
  std::unordered_map<const GraphNode*, size_t> place;
  for (const GraphNode* node : *order) {
    std::vector<size_t> after, early;
    for (const GraphNode* dependency : node->dependencies) {
      after.push_back(place.at(dependency));
      if (lets_begin_early(edge_kind(dependency, node))) early.push_back(after.back());
    }
    const size_t first = steps.size();
    if (const auto* child = std::get_if<ChildWork>(&node->work);
        child && !append(*child->graph, steps))
      return false;
    const size_t at = place[node] = steps.size();
    steps.push_back({node, node->work, std::move(after), std::move(early), first});
    const auto* conditional = std::get_if<ConditionalWork>(&node->work);
    if (!conditional) continue;
    steps[at].work = ConditionalWork{conditional->condition, conditional->type};  // not its graphs
    for (const GraphRef& body : conditional->bodies) {
      if (!append(*body, steps)) return false;
      steps[at].bodies.push_back(steps.size());
    }
  }
  return true;
}

// User objects of the graph and its children.
void collect(const Graph& graph, std::vector<HeldObject>& objects) {
  objects.insert(objects.end(), graph.objects.begin(), graph.objects.end());
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) collect(*child->graph, objects);
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work))
      for (const GraphRef& body : conditional->bodies) collect(*body, objects);
  }
}

void run_steps(const Stream& on, const std::vector<GraphExec::Step>& steps, size_t from, size_t to);

// Where the chain of kernels ends that begins here, each of which may begin before the one before
// it has ended, and depends on no other of them.
size_t end_of_chain(const std::vector<GraphExec::Step>& steps, size_t from, size_t to) {
  const auto is_kernel = [&](size_t i) {
    return steps[i].enabled && std::holds_alternative<KernelWork>(steps[i].work);
  };
  size_t end = from + 1;
  if (!is_kernel(from)) return end;
  for (; end < to && is_kernel(end); ++end) {
    const GraphExec::Step& step = steps[end];
    if (std::ranges::find(step.early, end - 1) == step.early.end()) break;
    if (std::ranges::any_of(step.after, [&](size_t i) { return i >= from && i != end - 1; })) break;
  }
  return end;
}

void run_chain(const Stream& on, const std::vector<GraphExec::Step>& steps, size_t from,
               size_t to) {
  const WorkOrderRef whole = Scheduler::running();
  std::vector<Scheduler::KernelLaunch> chain;
  std::vector<WorkOrderRef> orders = {nullptr};  // each part of the launch has its own
  for (size_t i = from; i < to; ++i) {
    if (whole) orders.push_back(part_of(*whole, orders.back()));
    chain.push_back({.work =
                         [&on, &work = steps[i].work, i](Dependence& dependence) {
                           Scheduler::begin_node(i);
                           execute(on, work, &dependence);
                         },
                     .early = i > from,
                     .order = orders.back()});
  }
  runtime().scheduler.run_overlapping(std::move(chain));
}

// One body, or a body again and again; where the steps go on.
size_t run_conditional(const Stream& on, const std::vector<GraphExec::Step>& steps, size_t at) {
  const GraphExec::Step& step = steps[at];
  const auto& work = std::get<ConditionalWork>(step.work);
  do {
    const size_t body = work.choose();
    if (body >= step.bodies.size()) break;
    run_steps(on, steps, body == 0 ? at + 1 : step.bodies[body - 1], step.bodies[body]);
  } while (work.type == cudaGraphCondTypeWhile && !sticky_error());
  return step.bodies.back();
}

void run_steps(const Stream& on, const std::vector<GraphExec::Step>& steps, size_t from,
               size_t to) {
  for (size_t i = from; i < to;) {
    if (std::holds_alternative<ConditionalWork>(steps[i].work)) {
      i = run_conditional(on, steps, i);
    } else if (const size_t end = end_of_chain(steps, i, to); end > i + 1) {
      run_chain(on, steps, i, end);
      i = end;
    } else {
      Scheduler::begin_node(i);
      if (steps[i].enabled) execute(on, steps[i].work);
      ++i;
    }
  }
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
cudaError_t settle(const GraphExec& exec, std::vector<Work>& first) {
  std::vector<GraphMemoryRef> left;
  if (exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
    std::ranges::copy_if(exec.allocated, std::back_inserter(left), is_promised);
  exchange_promises({}, left);
  if (!exchange_promises(exec.allocated, exec.freed)) return cudaErrorInvalidValue;
  for (GraphMemoryRef& memory : left) first.emplace_back(FreeWork{std::move(memory)});
  return cudaSuccess;
}

const GraphMemory* memory_of(const Work& work) {
  if (const auto* alloc = std::get_if<AllocWork>(&work)) return alloc->memory.get();
  if (const auto* free = std::get_if<FreeWork>(&work)) return free->memory.get();
  return nullptr;
}

bool same_shape(const GraphExec::Step& a, const GraphExec::Step& b) {
  return node_type(a.work) == node_type(b.work) && a.after == b.after && a.early == b.early;
}

// The bodies of a conditional node may change, but not what it does with them.
bool same_choice(const GraphExec::Step& a, const GraphExec::Step& b) {
  const auto* one = std::get_if<ConditionalWork>(&a.work);
  const auto* other = std::get_if<ConditionalWork>(&b.work);
  return !one || !other || (one->type == other->type && a.bodies.size() == b.bodies.size());
}

}  // namespace

cudaError_t instantiate(const GraphRef& graph, unsigned long long flags, GraphExecRef* exec,
                        BadConditional* bad) {
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                        cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagUseNodePriority;
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) return cudaErrorNotSupported;
  if (flags & ~kKnown) return cudaErrorInvalidValue;
  const bool has_memory = has_memory_nodes(*graph);
  if ((has_memory || has_conditional_nodes(*graph)) && graph->instance.lock())
    return cudaErrorNotSupported;
  if (const BadConditional found = check_conditionals(*graph); found.result) {
    if (bad) *bad = found;
    return found.node ? cudaErrorNotSupported : cudaErrorInvalidValue;
  }
  auto made = std::make_shared<GraphExec>();
  made->flags = flags;
  if (!append(*graph, made->steps)) return cudaErrorInvalidValue;
  collect(*graph, made->objects);
  made->conditions = conditions_of(*graph);
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
    if (!exec->allocated.empty() || !exec->freed.empty() || !exec->conditions.empty())
      return cudaErrorNotSupported;
    auto graph = std::make_shared<Graph>();
    std::vector<GraphNode*> nodes;
    for (const GraphExec::Step& step : exec->steps) {
      std::vector<GraphNode*> after;
      EdgeKinds edges;
      for (const size_t i : step.after) after.push_back(nodes[i]);
      for (const size_t i : step.early) edges[nodes[i]] = kProgrammaticEdge;
      if (!std::holds_alternative<ChildWork>(step.work))
        nodes.push_back(graph->add(step.work, after, edges));
      else nodes.push_back(graph->add(EmptyWork{}, after));
    }
    return capture_work(capture, stream, ChildWork{std::move(graph)});
  }
  if (const cudaError_t error = check_implicit(stream)) return error;
  std::vector<Work> first;
  if (const cudaError_t error = settle(*exec, first)) return error;
  // Shared with those who ask afterwards what the launch may use.
  const auto steps = std::make_shared<const std::vector<GraphExec::Step>>(exec->steps);
  exec->last = runtime().scheduler.submit(stream,
                                          [&on = *stream, first = std::move(first), steps,
                                           objects = exec->objects, conditions = exec->conditions] {
                                            for (const Work& work : first) execute(on, work);
                                            for (const ConditionRef& condition : conditions)
                                              if (condition->assigns_initial)
                                                condition->value = condition->initial;
                                            run_steps(on, *steps, 0, steps->size());
                                          },
                                          {exec->last});
  std::vector<const Work*> each;
  for (const GraphExec::Step& step : *steps)
    if (step.enabled) each.push_back(&step.work);
  tell_uses(exec->last, each);
  tell_asked(exec->last->order, *steps);
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
    if (!same_choice(steps[i], exec.steps[i]))
      return fail(cudaGraphExecUpdateErrorParametersChanged, steps[i].node);
    if (!same_shape(steps[i], exec.steps[i]) || steps[i].bodies != exec.steps[i].bodies)
      return fail(cudaGraphExecUpdateErrorTopologyChanged, steps[i].node);
    if (memory_of(steps[i].work) != memory_of(exec.steps[i].work))
      return fail(cudaGraphExecUpdateErrorParametersChanged, steps[i].node);
  }
  for (size_t i = 0; i < steps.size(); ++i) exec.steps[i].work = std::move(steps[i].work);
  exec.conditions = conditions_of(*graph);
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
