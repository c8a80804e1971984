// When the work that a program gives to streams begins and ends on a GPU: kernels, copies, fills,
// graphs, events, and the host that has to ask for each of them.
//
// The rules, each with the figure that it comes from (figures.h):
// - The host asks for one thing after another. A launch takes it launch_host_us, and nothing begins
//   before it was asked for.
// - In a stream a kernel begins launch_us - event_us after what was before it. In a graph it begins
//   graph_node_us after the nodes that it depends on, and takes warm_us less.
// - A dependent launch begins while the kernel before it still runs, if that one lets it. What it
//   does before it waits takes no time.
// - One copy engine per direction; copies of one direction take turns. While both directions are
//   used, each is slower: both_ways_bytes.
// - Kernels of different streams run side by side. A kernel gets what those that began before it
//   leave of the GPU: one that keeps 70 % of it busy (Task::share) leaves 30 % to the next.
//   Fills and copies within the device are kernels that need all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/copies.h"
#include "model/figures.h"

namespace ridge::model {

struct Task {
  enum class Kind : uint8_t {
    kernel,
    copy,      // and fills
    function,  // of the host, which the stream runs: us
    event,
    marker,       // waits for others and does nothing
    graph,        // nodes
    synchronise,  // the host waits: for the tasks `after`, for the stream, or for all of them
    host          // the host is busy for so many us
  };
  Kind kind = Kind::kernel;
  uint64_t stream = 0;
  bool all_streams = false;  // of synchronise
  // Earlier tasks that must be over before it begins; those of its own stream need not be named. Of
  // a graph's node: earlier nodes, by their place in the graph.
  std::vector<size_t> after = {};
  // Of a kernel: how long it takes alone, and how much of the GPU it keeps busy, 1 being all of it.
  double us = 0, share = 1;
  bool is_dependent = false;  // it begins when the kernel before it in the stream lets it
  bool releases = false;      // it lets such a kernel begin before its own end
  // Of a copy.
  Way way = Way::to_device;
  double bytes = 0;
  bool is_pageable = false;
  bool host_waits = false;  // until it is over, whatever it is
  std::vector<Task> nodes = {};
};

class Timeline {
 public:
  explicit Timeline(const Figures& figures) : f_(figures) {}

  // The next thing that the host does. Returns its number: 0, 1, 2, …
  size_t add(const Task& task);
  struct Span {
    double begin = 0, end = 0;  // µs since the beginning
  };
  // The host need not have waited for it. `node`: of a graph.
  Span span(size_t number);
  Span node_span(size_t number, size_t node);
  void wait(size_t number);  // the host does
  void wait_all();
  double host_us() const { return host_; }
  const Figures& figures() const { return f_; }

 private:
  static constexpr size_t kNone = ~size_t(0);
  static constexpr size_t kNodesBehind = 2;    // a graph's number: those of its nodes
  static constexpr size_t kQueueDepth = 1024;  // of a stream, before the host has to wait
  struct Op {                                  // that is not over
    Task::Kind kind = Task::Kind::kernel;
    uint64_t stream = 0;
    Way way = Way::to_device;
    double earliest = 0;         // what it depends on is over
    double gap = 0;              // from there until it begins
    double fixed = 0, left = 0;  // µs of work, alone
    double share = 1;
    bool releases = false;
    bool in_queue = false;   // of its stream, which has room for so many
    size_t held_by = kNone;  // the kernel that a dependent one waits for
    size_t graph = kNone;    // that it is a node of
    size_t missing = 0, nodes = 0;
    std::vector<size_t> behind = {}, early = {};  // those that wait for its end, for its beginning
  };
  struct Known {
    double begin = -1, end = -1, over = -1;  // others may begin when it is over
  };
  struct Stream {
    size_t last = kNone;
    size_t waiting = 0;
  };

  size_t new_op(Op op, const std::vector<size_t>& after, size_t held_by);
  size_t add_graph(const Task& task, Op whole, const std::vector<size_t>& after);
  Op op_of(const Task& task) const;
  double host_cost(const Task& task);
  void depend(Op& op, size_t number, size_t on, bool on_beginning);
  void satisfied(size_t number);
  void start(size_t number);
  void finish(size_t number, double end, double over);
  bool step();  // to the next moment at which something changes; false: nothing is left
  void run_until_over(size_t number);
  void wait_for(const Task& task);
  bool is_over(size_t number) const { return known_[number].over >= 0; }

  using Moment = std::pair<double, size_t>;  // and whose
  Figures f_;
  double host_ = 0, now_ = 0;
  uint64_t last_stream_ = ~0ull;
  std::vector<Known> known_;     // by op; nodes of graphs have numbers, too
  std::vector<size_t> task_op_;  // by task
  std::unordered_map<size_t, Op> ops_;
  std::map<uint64_t, Stream> streams_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> starting_;
  std::vector<size_t> on_sms_;     // in the order they began
  std::vector<size_t> functions_;  // of the host
  std::deque<size_t> engines_[2];  // to the device, to the host
};

}  // namespace ridge::model
