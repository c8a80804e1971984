#include "vm/timing/timekeeper.h"

#include <algorithm>
#include <utility>

namespace ridge::vm::timing {
namespace {

constexpr size_t kNone = ~size_t(0);
using Kind = model::Task::Kind;

// What the calling thread runs.
struct Current {
  uint64_t stream = 0, number = 0;
  size_t node = kNone;
};
thread_local Current current;

model::Task task_of(const Observer::Asked& asked) {
  using Asked = Observer::Asked::Kind;
  model::Task task;
  task.after = asked.after;
  switch (asked.kind) {
    case Asked::nothing: task.kind = Kind::marker; break;
    case Asked::kernel:
      task.kind = Kind::kernel;
      task.is_dependent = asked.is_dependent;
      break;
    case Asked::fill:
    case Asked::copy:
      task.kind = Kind::copy;
      task.bytes = double(asked.bytes);
      task.is_pageable = asked.is_pageable;
      task.way = asked.kind == Asked::fill ? model::Way::fill
                 : asked.from_host         ? model::Way::to_device
                 : asked.to_host           ? model::Way::to_host
                                           : model::Way::within_device;
      if (asked.from_host && asked.to_host) task.kind = Kind::function;  // the host's own
      break;
    case Asked::function: task.kind = Kind::function; break;
    case Asked::event: task.kind = Kind::event; break;
    case Asked::graph: {
      task.kind = Kind::graph;
      for (const Observer::Asked& node : asked.nodes) task.nodes.push_back(task_of(node));
      // Who has such an edge behind it lets the next one begin early.
      for (const model::Task& node : task.nodes)
        for (const size_t k : node.after) task.nodes[k].releases |= node.is_dependent;
      break;
    }
  }
  return task;
}

}  // namespace

Timekeeper::Timekeeper(Told told, Options options, const GpuSpec& gpu, bool events)
    : Recorder(
          [this, told = std::move(told)](const LaunchTime& launch) {
            note(launch);
            if (told) told(launch);
          },
          options),
      events_(events),
      timeline_(model::figures_of(gpu)) {}

void Timekeeper::work_begins(const WorkOrderRef& order) {
  current = order ? Current{order->stream, order->number} : Current{};
}

void Timekeeper::node_begins(size_t node) { current.node = node; }

// On the thread that ran the launch.
void Timekeeper::note(const LaunchTime& launch) {
  const std::lock_guard lock(journal_mutex_);
  Times& times = times_[{current.stream, current.number, current.node}];
  const model::Prediction& time = launch.time;
  times.us += time.own_us();
  times.low_us += std::max(0.0, time.low_us - time.launch_us);
  times.clean_us += time.clean_us;
  times.high_us += time.high_us - time.launch_us;
  times.share = std::max(times.share, time.share);
  ++times.launches;
}

// The last entry of the stream up to that number.
size_t Timekeeper::index_of(uint64_t stream, uint64_t number) const {
  const auto found = places_.find(stream);
  if (found == places_.end()) return kNone;
  const auto& places = found->second;
  const auto behind =
      std::ranges::upper_bound(places, number, {}, &std::pair<uint64_t, size_t>::first);
  return behind == places.begin() ? kNone : std::prev(behind)->second;
}

void Timekeeper::asked(const WorkOrderRef& order, const Asked& asked) {
  const std::lock_guard lock(journal_mutex_);
  model::Task task = task_of(asked);
  task.stream = order->stream;
  for (const auto& [stream, number] : order->after) {
    if (stream == order->stream) continue;
    // What the host has waited for is over before it asks for anything else.
    if (const auto known = host_.find(stream); known != host_.end() && number <= known->second)
      continue;
    if (const size_t index = index_of(stream, number); index != kNone) task.after.push_back(index);
  }
  places_[order->stream].emplace_back(order->number, on_timeline_ + journal_.size());
  journal_.push_back({std::move(task), order});
  constexpr size_t kMost = 4096;  // that are kept for later
  if (events_ && journal_.size() > kMost) advance(false);
}

void Timekeeper::host_waited(const std::map<uint64_t, uint64_t>& host) {
  const std::lock_guard lock(journal_mutex_);
  model::Task wait = {.kind = Kind::synchronise};
  for (const auto& [stream, number] : host) {
    uint64_t& before = host_[stream];
    if (number <= before) continue;
    before = number;
    if (const size_t index = index_of(stream, number); index != kNone) wait.after.push_back(index);
  }
  if (!wait.after.empty()) journal_.push_back({std::move(wait), nullptr});
}

void Timekeeper::set_times(model::Task& task, const Key& key, Which which) const {
  const auto found = times_.find(key);
  if (found == times_.end()) return;
  const Times& times = found->second;
  switch (which) {
    case Which::expected: task.us = times.us; break;
    case Which::low: task.us = times.low_us; break;
    case Which::high: task.us = times.high_us; break;
    case Which::clean: task.us = times.clean_us; break;
  }
  task.share = times.share;
}

// How far off copies may be: our comparison with recorded times (docs/model.md). The host's memory
// differs more from machine to machine than the link does.
constexpr double kBand = 0.07, kBandPageable = 0.2;
void widen(model::Task& task, Timekeeper::Which which) {
  if (task.kind != Kind::copy) return;
  const double band = task.is_pageable ? kBandPageable : kBand;
  if (which == Timekeeper::Which::low) task.bytes *= 1 - band;
  if (which == Timekeeper::Which::high) task.bytes *= 1 + band;
}

model::Task Timekeeper::with_times(size_t index, Which which) const {
  const Entry& entry = journal_[index - on_timeline_];
  model::Task task = entry.task;
  if (!entry.order) return task;
  widen(task, which);
  for (model::Task& node : task.nodes) widen(node, which);
  const auto [stream, number] = std::pair(entry.order->stream, entry.order->number);
  if (task.kind == Kind::kernel) {
    set_times(task, {stream, number, kNone}, which);
    task.releases = entry.order->trigger != WorkOrder::Trigger::none;
  }
  for (size_t k = 0; k < task.nodes.size(); ++k) {
    model::Task& node = task.nodes[k];
    if (node.kind != Kind::kernel) continue;
    set_times(node, {stream, number, k}, which);
    // The body of a condition runs several times or never.
    const auto found = times_.find({stream, number, k});
    if (found == times_.end()) node.kind = Kind::marker;
  }
  return task;
}

bool Timekeeper::is_known(size_t index) const {
  const Entry& entry = journal_[index - on_timeline_];
  if (!entry.order) return true;
  const auto host = host_.find(entry.order->stream);
  if (host != host_.end() && entry.order->number <= host->second) return true;
  if (entry.task.kind == Kind::kernel)
    return times_.contains({entry.order->stream, entry.order->number, kNone});
  return entry.task.kind != Kind::graph;
}

// Puts entries on the timeline, all of them or those whose times are known.
void Timekeeper::advance(bool all) {
  while (!journal_.empty() && (all || is_known(on_timeline_))) {
    const model::Task task = with_times(on_timeline_, Which::clean);  // nobody flushes the L2
    timeline_.add(task);
    if (task.kind == Kind::kernel || task.kind == Kind::copy || task.kind == Kind::graph)
      works_.push_back(on_timeline_);
    keep_copy(task, {on_timeline_});
    for (size_t k = 0; k < task.nodes.size(); ++k) keep_copy(task.nodes[k], {on_timeline_, k});
    if (const WorkOrderRef& order = journal_.front().order) {
      const auto [stream, number] = std::pair(order->stream, order->number);
      times_.erase(times_.lower_bound({stream, number, 0}),
                   times_.upper_bound({stream, number, kNone}));
    }
    journal_.pop_front();
    ++on_timeline_;
  }
}

void Timekeeper::keep_copy(const model::Task& task, Place place) {
  if (task.kind != Kind::copy) return;
  copies_.push_back(
      {place, {.way = task.way, .is_pageable = task.is_pageable, .count = 1, .bytes = task.bytes}});
}

Timekeeper::Summary Timekeeper::summary() {
  const std::lock_guard lock(journal_mutex_);
  advance(true);
  Summary summary;
  double begin = 0, end = 0;
  for (const size_t work : works_) {
    const auto span = timeline_.span(work);
    begin = end == 0 ? span.begin : std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
  summary.us = end - begin;
  for (const auto& [place, copy] : copies_) {
    const auto span = place.node == kNone ? timeline_.span(place.task)
                                          : timeline_.node_span(place.task, place.node);
    auto sum = std::ranges::find_if(summary.copies, [&](const Copies& c) {
      return c.way == copy.way && c.is_pageable == copy.is_pageable;
    });
    if (sum == summary.copies.end())
      sum = summary.copies.insert(sum, {.way = copy.way, .is_pageable = copy.is_pageable});
    ++sum->count;
    sum->bytes += copy.bytes;
    sum->us += span.end - span.begin;
    // A kernel of the driver's does it, and begins as late as any other.
    if (copy.way == model::Way::within_device || copy.way == model::Way::fill)
      sum->us += model::copy_time(copy.way, 0, false, timeline_.figures()).fixed_us;
  }
  return summary;
}

std::optional<double> Timekeeper::elapsed_us(const Recorded& from, const Recorded& to) {
  if (!events_) return std::nullopt;
  const std::lock_guard lock(journal_mutex_);
  advance(true);
  std::array<double, 2> at = {};
  for (size_t i = 0; i < 2; ++i) {
    const Recorded& event = i ? to : from;
    const size_t index = index_of(event.order->stream, event.order->number);
    if (index == kNone) return std::nullopt;
    at[i] = event.node == kNone ? timeline_.span(index).end
                                : timeline_.node_span(index, event.node).end;
  }
  return at[1] - at[0];
}

std::vector<model::Task> Timekeeper::works(Which which) {
  const std::lock_guard lock(journal_mutex_);
  std::vector<model::Task> works;
  for (size_t i = 0; i < journal_.size(); ++i) works.push_back(with_times(on_timeline_ + i, which));
  return works;
}

}  // namespace ridge::vm::timing
