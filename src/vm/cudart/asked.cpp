#include "vm/cudart/asked.h"

#include <variant>

namespace ridge::vm::cudart {
namespace {

using Asked = Observer::Asked;
using Kind = Asked::Kind;

uint64_t bytes_of(const BoxExtent& extent) {
  return uint64_t(extent.width) * extent.height * extent.depth;
}

struct AskedOf {
  Asked operator()(const KernelWork& work) const {
    return {.kind = Kind::kernel, .is_dependent = work.early};
  }
  Asked operator()(const CopyPlan& plan) const {
    const bool from_host = !is_device(plan.from), to_host = !is_device(plan.to);
    return {
        .kind = Kind::copy,
        .bytes = bytes_of(plan.extent),
        .from_host = from_host,
        .to_host = to_host,
        .is_pageable = (from_host && is_pageable(plan.from)) || (to_host && is_pageable(plan.to))};
  }
  Asked operator()(const FillPlan& plan) const {
    return {.kind = Kind::fill, .bytes = bytes_of(plan.extent), .to_host = !is_device(plan.to)};
  }
  Asked operator()(const HostWork&) const { return {.kind = Kind::function}; }
  Asked operator()(const EventRecordWork&) const { return {.kind = Kind::event}; }
  template <class Other>
  Asked operator()(const Other&) const {
    return {};
  }
};

}  // namespace

Asked asked_of(const Work& work) { return std::visit(AskedOf{}, work); }

Asked asked_of(const std::vector<GraphExec::Step>& steps) {
  Asked graph = {.kind = Kind::graph};
  // A child graph comes after what its node comes after, the bodies of a conditional node after
  // that node. What waits for such a node waits for the last step in it.
  std::vector<size_t> within(steps.size(), ~size_t(0)), last(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    last[i] = steps[i].bodies.empty() ? i : steps[i].bodies.back() - 1;
    for (size_t k = i + 1; k <= last[i]; ++k) within[k] = i;
    if (std::holds_alternative<ChildWork>(steps[i].work))
      for (size_t k = steps[i].first; k < i; ++k)
        if (within[k] == ~size_t(0)) within[k] = i;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const GraphExec::Step& step = steps[i];
    Asked node = step.enabled ? asked_of(step.work) : Asked{};
    for (const size_t k : step.after) node.after.push_back(last[k]);
    if (step.after.empty() && within[i] != ~size_t(0)) {
      const size_t outer = within[i];
      if (outer < i) node.after.push_back(outer);
      else
        for (const size_t k : steps[outer].after) node.after.push_back(last[k]);
    }
    if (std::holds_alternative<ChildWork>(step.work))
      for (size_t k = step.first; k < i; ++k) node.after.push_back(k);
    node.is_dependent = node.kind == Kind::kernel && !step.early.empty();
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

void tell_asked(const WorkOrderRef& order, Kind kind) {
  Observer* const watching = observer();
  if (watching && order && watching->follows_host()) watching->asked(order, {.kind = kind});
}

}  // namespace ridge::vm::cudart
