#include "model/elapsed.h"

#include <algorithm>
#include <map>

namespace ridge::model {
namespace {

using Kind = Task::Kind;

// Works as nodes of a graph: the order of a stream becomes edges.
std::vector<Task> as_nodes(const std::vector<Task>& works, int launches) {
  std::vector<Task> nodes;
  std::map<uint64_t, size_t> last;
  for (int i = 0; i < launches; ++i) {
    const size_t first = nodes.size();
    for (const Task& work : works) {
      Task node = work;
      for (size_t& k : node.after) k += first;
      if (const auto before = last.find(work.stream); before != last.end())
        node.after.push_back(before->second);
      if (node.kind == Kind::event) node.kind = Kind::marker;  // an edge, once captured
      last[work.stream] = nodes.size();
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

}  // namespace

double between_events_us(const std::vector<Task>& works, const Figures& figures, double flushed,
                         uint64_t stream) {
  Timeline timeline(figures);
  if (flushed > 0)
    timeline.add({.kind = Kind::copy, .stream = stream, .way = Way::fill, .bytes = flushed});
  const size_t begin = timeline.add({.kind = Kind::event, .stream = stream});
  for (Task work : works) {
    for (size_t& k : work.after) k += begin + 1;
    timeline.add(work);
  }
  const size_t end = timeline.add({.kind = Kind::event, .stream = stream});
  return timeline.span(end).end - timeline.span(begin).end;
}

bool can_capture(const std::vector<Task>& works) {
  return std::ranges::none_of(works, [](const Task& work) {
    return work.kind == Kind::synchronise || work.kind == Kind::host || work.kind == Kind::graph ||
           work.host_waits || (work.kind == Kind::copy && work.is_pageable);
  });
}

double per_graph_launch_us(const std::vector<Task>& works, const Figures& figures, double flushed,
                           int launches) {
  const Task graph = {.kind = Kind::graph, .nodes = as_nodes(works, launches)};
  return between_events_us({graph}, figures, flushed) / launches;
}

}  // namespace ridge::model
