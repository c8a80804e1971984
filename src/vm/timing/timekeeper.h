// The recorder, and what surrounds kernels: it follows what the host asks of streams and puts all
// of it on a timeline (model/timeline.h), so that events have modelled times.
//
// What the program's own code on the host takes is not on it.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <tuple>

#include "model/timeline.h"
#include "vm/timing/recorder.h"

namespace ridge::vm::timing {

// What a program copied one way, or filled.
struct Copies {
  model::Way way = model::Way::to_device;
  bool is_pageable = false;
  uint64_t count = 0;
  double bytes = 0, us = 0;
};

class Timekeeper : public Recorder {
 public:
  // `events`: whether cudaEventElapsedTime follows the timeline.
  Timekeeper(Told told, Options options, const GpuSpec& gpu, bool events);

  bool follows_host() const override { return true; }
  void asked(const WorkOrderRef& order, const Asked& asked) override;
  void host_waited(const std::map<uint64_t, uint64_t>& host) override;
  void work_begins(const WorkOrderRef& order) override;
  void node_begins(size_t node) override;
  bool keeps_time() const override { return events_; }
  std::optional<double> elapsed_us(const Recorded& from, const Recorded& to) override;

  // All that was asked for, with the kernels' times: the expected, the shortest or the longest, or
  // the expected where the L2 has nothing to write back.
  enum class Which : uint8_t { expected, low, high, clean };
  std::vector<model::Task> works(Which which);
  // From the first kernel, copy or fill to the end of the last, and the copies among them.
  struct Summary {
    double us = 0;
    std::vector<Copies> copies;
  };
  Summary summary();

 private:
  // A piece of work, or a node of a graph (else ~0).
  using Key = std::tuple<uint64_t, uint64_t, size_t>;  // stream, number, node
  struct Times {
    double us = 0, low_us = 0, high_us = 0, clean_us = 0, share = 0;
    uint64_t launches = 0;
  };
  struct Place {  // on the timeline
    size_t task = 0, node = ~size_t(0);
  };
  void note(const LaunchTime& launch);
  size_t index_of(uint64_t stream, uint64_t number) const;
  void set_times(model::Task& task, const Key& key, Which which) const;
  model::Task with_times(size_t index, Which which) const;
  bool is_known(size_t index) const;
  void advance(bool all);
  void keep_copy(const model::Task& task, Place place);

  struct Entry {
    model::Task task;
    WorkOrderRef order;  // null: the host waits
  };
  const bool events_;
  std::mutex journal_mutex_;
  std::deque<Entry> journal_;  // in the host's order
  std::map<uint64_t, std::vector<std::pair<uint64_t, size_t>>>
      places_;                         // by stream: in the journal
  std::map<uint64_t, uint64_t> host_;  // what it has waited for
  std::map<Key, Times> times_;
  model::Timeline timeline_;
  size_t on_timeline_ = 0;                        // entries
  std::vector<std::pair<Place, Copies>> copies_;  // on the timeline, one by one
  std::vector<size_t> works_;                     // on the timeline: kernels, copies and graphs
};

}  // namespace ridge::vm::timing
