// What a warp has started and not waited for: groups of copies and of products, and the phases of
// mbarriers that they and the warps signal. Times lie in the future: who starts a copy knows when
// it will be there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/work.h"

namespace ridge::model {

// Groups of one kind of one warp. Each is over when the last of its parts is.
class Groups {
 public:
  void clear() { *this = {}; }
  void add(double done) { open_ = std::max(open_, done); }
  void commit() {
    times_.push_back(open_);
    open_ = 0;
  }
  // When all but the `newest` last groups are over; kAll: everything, committed or not.
  static constexpr uint32_t kAll = 255;
  double wait(uint32_t newest) {
    if (newest == kAll) {
      over_ = std::max(over_, open_);
      open_ = 0;
      newest = 0;
    }
    for (; times_.size() > newest; times_.pop_front()) over_ = std::max(over_, times_.front());
    return over_;
  }
  // When all that was started is over.
  double last() const {
    double last = std::max(over_, open_);
    for (const double time : times_) last = std::max(last, time);
    return last;
  }

 private:
  double open_ = 0, over_ = 0;
  std::deque<double> times_;  // committed, the oldest first
};

// The mbarriers of one block. A phase is over when all signals that the streams have for it have
// come: arrivals of warps and bytes of copies alike.
class Phases {
 public:
  void begin(const Work::Block& block) {
    needed_ = &block.signals;
    phases_.clear();
  }
  // One signal; returns those who wait for the phase, if it was the last one.
  std::vector<int> signal(uint64_t key, double when) {
    Phase& phase = find(key);
    phase.over = std::max(phase.over, when);
    if (phase.left) --phase.left;
    if (phase.left) return {};
    return std::exchange(phase.waiting, {});
  }
  bool is_over(uint64_t key) { return !find(key).left; }
  double over(uint64_t key) { return find(key).over; }
  void wait(uint64_t key, int warp) { find(key).waiting.push_back(warp); }

 private:
  struct Phase {
    uint32_t left = 0;  // signals that are still to come
    double over = 0;
    std::vector<int> waiting;
  };
  Phase& find(uint64_t key) {
    const auto [at, is_new] = phases_.try_emplace(key);
    if (is_new && needed_)
      if (const auto known = needed_->find(key); known != needed_->end())
        at->second.left = known->second;
    return at->second;
  }

  const std::unordered_map<uint64_t, uint32_t>* needed_ = nullptr;
  std::unordered_map<uint64_t, Phase> phases_;
};

}  // namespace ridge::model
