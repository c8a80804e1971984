// Where warps of a block meet: __syncthreads, the 15 named barriers, and the cluster's barrier.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace ridge::model {

class Barrier {
 public:
  // A warp comes; it waits here unless it only arrives.
  void arrive(int warp, bool waits, double when) {
    ++arrived_;
    latest_ = std::max(latest_, when);
    if (waits) waiting_.push_back(warp);
  }
  // Once so many have come it opens, for the next time, too: who waits, and from when on they go
  // on. None: it stays shut.
  struct Open {
    bool is_open = false;
    double when = 0;
    std::vector<int> warps;
  };
  Open open_for(int needed) {
    if (!arrived_ || arrived_ < needed) return {};
    arrived_ = 0;
    return {true, std::exchange(latest_, 0.0), std::exchange(waiting_, {})};
  }

 private:
  int arrived_ = 0;
  double latest_ = 0;
  std::vector<int> waiting_;
};

// barrier.cluster of one block: all its warps arrive, and wait later. The other blocks are taken to
// come when this one does.
class ClusterBarrier {
 public:
  // The warp's next arrival; returns true if it was the last one of `warps` in its round.
  bool arrive(double when, int warps, double latency) {
    latest_ = std::max(latest_, when);
    if (++arrived_ < warps) return false;
    arrived_ = 0;
    open_ = latest_ + latency;
    ++rounds_;
    latest_ = 0;
    return true;
  }
  // For a warp that has arrived so many times.
  bool is_open(int times) const { return rounds_ >= times; }
  double open() const { return open_; }

 private:
  int arrived_ = 0, rounds_ = 0;
  double latest_ = 0, open_ = 0;
};

}  // namespace ridge::model
