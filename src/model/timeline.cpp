#include "model/timeline.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace ridge::model {
namespace {

constexpr double kLittle = 1e-9;  // µs

bool over_link(Task::Kind kind, Way way) {
  return kind == Task::Kind::copy && (way == Way::to_device || way == Way::to_host);
}

}  // namespace

// How long the call takes.
double Timeline::host_cost(const Task& task) {
  using Kind = Task::Kind;
  if (task.kind == Kind::synchronise || task.kind == Kind::host) return 0;
  if (task.kind == Kind::event) return f_.event_us;
  // The launch of a graph takes no longer than the event before it: graph.us_by_nodes.
  if (task.kind == Kind::graph) return f_.event_us;
  if (task.kind == Kind::marker) return 0;
  double us = task.is_dependent ? f_.programmatic_host_us : f_.launch_host_us;
  if (task.kind == Kind::copy) us = copy_time(task.way, task.bytes, task.is_pageable, f_).host_us;
  if (last_stream_ != ~0ull && last_stream_ != task.stream) us += f_.other_stream_us;
  last_stream_ = task.stream;
  return us;
}

// In a stream; a graph's nodes follow each other faster.
Timeline::Op Timeline::op_of(const Task& task) const {
  using Kind = Task::Kind;
  Op op = {.kind = task.kind, .stream = task.stream, .way = task.way};
  switch (task.kind) {
    case Kind::kernel:
      op.gap = f_.launch_us - f_.event_us;
      op.left = task.us;
      op.share = std::clamp(task.share, 0.001, 1.0);
      op.releases = task.releases;
      break;
    case Kind::copy: {
      const CopyTime time = copy_time(task.way, task.bytes, task.is_pageable, f_);
      (over_link(task.kind, task.way) ? op.fixed : op.gap) = time.fixed_us;
      op.left = time.bytes_us;
      break;
    }
    case Kind::function: op.left = task.us, op.gap = f_.wait_us; break;
    default: break;
  }
  return op;
}

void Timeline::depend(Op& op, size_t number, size_t on, bool on_beginning) {
  const double known = on_beginning ? known_[on].begin : known_[on].over;
  if (known >= 0) {
    op.earliest = std::max(op.earliest, known);
    return;
  }
  ++op.missing;
  Op& other = ops_.at(on);
  (on_beginning ? other.early : other.behind).push_back(number);
}

// `held_by`: a kernel that only has to have begun.
size_t Timeline::new_op(Op op, const std::vector<size_t>& after, size_t held_by) {
  const size_t number = known_.size();
  known_.emplace_back();
  for (const size_t on : after)
    if (on != held_by) depend(op, number, on, false);
  if (held_by != kNone && !is_over(held_by)) {
    op.gap = 0;
    op.held_by = held_by;
    depend(op, number, held_by, true);
  }
  const bool ready = !op.missing;
  ops_.emplace(number, std::move(op));
  if (ready) satisfied(number);
  return number;
}

size_t Timeline::add_graph(const Task& task, Op whole, const std::vector<size_t>& after) {
  // The whole begins as a node that all others come after, and is over with the last of them.
  whole.nodes = task.nodes.size();
  const size_t number = new_op(std::move(whole), {}, kNone);
  const size_t first = new_op({.kind = Task::Kind::marker, .earliest = host_}, after, kNone);
  std::vector<size_t> numbers;
  const double in_stream = f_.launch_us - f_.event_us;
  for (const Task& node : task.nodes) {
    Op op = op_of(node);
    op.graph = number;
    const bool is_free = node.kind == Task::Kind::marker || node.kind == Task::Kind::event;
    if (op.kind == Task::Kind::kernel && !node.after.empty())
      op.left = std::max(0.0, op.left - f_.warm_us);
    if (!is_free) {  // what it takes longer than a kernel, it does here, too
      const double gap = node.after.empty() ? f_.graph_us - f_.event_us : f_.graph_node_us;
      double& own = over_link(op.kind, op.way) ? op.fixed : op.gap;
      const double more = std::max(0.0, own - in_stream);
      own = 0;
      op.gap = gap;
      (over_link(op.kind, op.way) ? op.fixed : op.gap) += more;
    }
    std::vector<size_t> on = {first};
    size_t held_by = kNone;
    for (const size_t k : node.after) {
      on.push_back(numbers.at(k));
      if (node.is_dependent && task.nodes[k].releases) held_by = numbers[k];
    }
    numbers.push_back(new_op(std::move(op), on, held_by));
  }
  if (numbers.empty()) {  // nothing to wait for but its turn
    Op& graph = ops_.at(number);
    graph.nodes = 1;
    numbers.push_back(
        new_op({.kind = Task::Kind::marker, .earliest = host_, .graph = number}, {first}, kNone));
  }
  return number;
}

size_t Timeline::add(const Task& task) {
  using Kind = Task::Kind;
  const size_t place = task_op_.size();
  if (task.kind == Kind::synchronise || task.kind == Kind::host) {
    const double begin = host_;
    if (task.kind == Kind::host) host_ += task.us;
    else if (task.all_streams) wait_all();
    else wait_for(task);
    task_op_.push_back(known_.size());
    known_.push_back({begin, host_, host_});
    return place;
  }
  host_ += host_cost(task);
  Stream& stream = streams_[task.stream];
  while (stream.waiting >= kQueueDepth && step()) host_ = std::max(host_, now_);
  std::vector<size_t> after;
  for (const size_t k : task.after) after.push_back(task_op_.at(k));
  if (stream.last != kNone) after.push_back(stream.last);
  Op op = op_of(task);
  op.earliest = host_;
  const bool may_be_early = task.kind == Kind::kernel && task.is_dependent &&
                            stream.last != kNone && !is_over(stream.last);
  const size_t before = may_be_early && ops_.at(stream.last).releases ? stream.last : kNone;
  op.in_queue = true;
  ++stream.waiting;
  const size_t number = task.kind == Kind::graph ? add_graph(task, std::move(op), after)
                                                 : new_op(std::move(op), after, before);
  stream.last = number;
  task_op_.push_back(number);
  const bool waits =
      task.host_waits ||
      (task.kind == Kind::copy && copy_time(task.way, task.bytes, task.is_pageable, f_).host_waits);
  if (waits) wait(place);
  return place;
}

// All that it depends on is known: it begins after its gap.
void Timeline::satisfied(size_t number) {
  const Op& op = ops_.at(number);
  if (op.kind == Task::Kind::graph) return;  // its nodes say when
  starting_.push({op.earliest + op.gap, number});
}

void Timeline::start(size_t number) {
  using Kind = Task::Kind;
  Op& op = ops_.at(number);
  const auto begins = [&] {
    known_[number].begin = now_;
    for (const size_t k : std::exchange(op.early, {})) {
      Op& other = ops_.at(k);
      other.earliest = std::max(other.earliest, now_ + f_.programmatic_node_us);
      if (!--other.missing) satisfied(k);
    }
  };
  if (op.graph != kNone && known_[op.graph].begin < 0) known_[op.graph].begin = now_;
  if (over_link(op.kind, op.way)) {
    engines_[op.way == Way::to_host].push_back(number);
    return;
  }
  begins();
  if (op.kind == Kind::event) finish(number, now_, now_ + (op.graph == kNone ? f_.event_us : 0));
  else if (op.kind == Kind::marker) finish(number, now_, now_);
  else if (op.kind == Kind::function) functions_.push_back(number);
  else on_sms_.push_back(number);
}

void Timeline::finish(size_t number, double end, double over) {
  const auto found = ops_.find(number);
  Op op = std::move(found->second);
  ops_.erase(found);
  Known& known = known_[number];
  known.end = end;
  known.over = over;
  if (known.begin < 0) known.begin = end;
  if (op.in_queue) --streams_.at(op.stream).waiting;
  for (const size_t k : op.early) op.behind.push_back(k);
  for (const size_t k : op.behind) {
    Op& other = ops_.at(k);
    other.earliest = std::max(other.earliest, over);
    if (!--other.missing) satisfied(k);
  }
  if (op.graph != kNone && !--ops_.at(op.graph).nodes) finish(op.graph, end, over);
}

bool Timeline::step() {
  // How fast each that runs goes on, 1 being alone.
  struct Running {
    size_t number;
    double rate;
  };
  std::vector<Running> running;
  double free = 1;
  for (const size_t number : on_sms_) {
    const Op& op = ops_.at(number);
    if (op.held_by != kNone && !is_over(op.held_by)) continue;
    const double got = std::min(op.share, free);
    free -= got;
    running.push_back({number, got / op.share});
  }
  for (const size_t number : functions_) running.push_back({number, 1});
  const auto moves_bytes = [&](size_t engine) {
    return !engines_[engine].empty() && ops_.at(engines_[engine].front()).fixed <= kLittle;
  };
  for (const size_t engine : {0u, 1u}) {
    if (engines_[engine].empty()) continue;
    const size_t number = engines_[engine].front();
    if (known_[number].begin < 0) known_[number].begin = now_;
    const bool slower = moves_bytes(engine) && moves_bytes(1 - engine);
    running.push_back({number, slower ? 1 / both_ways_factor(f_) : 1});
  }
  double next = starting_.empty() ? std::numeric_limits<double>::max() : starting_.top().first;
  const auto left_of = [&](const Op& op) -> double {
    return op.fixed > kLittle ? op.fixed : op.left;
  };
  for (const auto& [number, rate] : running)
    if (rate > 0) next = std::min(next, now_ + left_of(ops_.at(number)) / rate);
  if (next == std::numeric_limits<double>::max()) return false;
  next = std::max(next, now_);
  std::vector<size_t> done;
  for (const auto& [number, rate] : running) {
    Op& op = ops_.at(number);
    const bool is_fixed = op.fixed > kLittle;
    (is_fixed ? op.fixed : op.left) -= (next - now_) * rate;
    if (op.fixed <= kLittle && op.left <= kLittle) done.push_back(number);
  }
  now_ = next;
  for (const size_t number : done) {
    std::erase(on_sms_, number);
    std::erase(functions_, number);
    for (auto& engine : engines_)
      if (!engine.empty() && engine.front() == number) engine.pop_front();
    finish(number, now_, now_);
  }
  while (!starting_.empty() && starting_.top().first <= now_ + kLittle) {
    const size_t number = starting_.top().second;
    starting_.pop();
    start(number);
  }
  return true;
}

void Timeline::run_until_over(size_t number) {
  while (!is_over(number)) {
    [[maybe_unused]] const bool goes_on = step();
    assert(goes_on && "every task can begin when those before it are over");
  }
}

Timeline::Span Timeline::span(size_t number) {
  const size_t op = task_op_.at(number);
  run_until_over(op);
  return {known_[op].begin, known_[op].end};
}

Timeline::Span Timeline::node_span(size_t number, size_t node) {
  const size_t op = task_op_.at(number);
  run_until_over(op);
  const Known& known = known_.at(op + kNodesBehind + node);
  return {known.begin, known.end};
}

void Timeline::wait(size_t number) {
  run_until_over(task_op_.at(number));
  host_ = std::max(host_, known_[task_op_[number]].end) + f_.wait_us;
}

void Timeline::wait_for(const Task& task) {
  std::vector<size_t> ops;
  for (const size_t k : task.after) ops.push_back(task_op_.at(k));
  if (const auto found = streams_.find(task.stream); ops.empty() && found != streams_.end())
    ops.push_back(found->second.last);
  for (const size_t op : ops) {
    run_until_over(op);
    host_ = std::max(host_, known_[op].end);
  }
  host_ += f_.wait_us;
}

void Timeline::wait_all() {
  double end = host_;
  for (const auto& [id, stream] : streams_) {
    if (stream.last == kNone) continue;
    run_until_over(stream.last);
    end = std::max(end, known_[stream.last].end);
  }
  host_ = end + f_.wait_us;
}

}  // namespace ridge::model
