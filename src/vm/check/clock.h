// Vector clocks: what each thread knows about the others. A thread that reads what another thread
// released, or waits where another thread arrived, is ordered behind everything that the other had
// done by then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace ridge::vm::check {

// What is known of one block: everything that it did before `interval`, and everything that `warp`
// did before its ticks (before `tick` for all threads, before `block_tick` for threads of its own
// block). Its reads before `read_interval` are over; its writes may still be under way.
struct Known {
  uint32_t block = 0, warp = 0, interval = 0, tick = 0, block_tick = 0, read_interval = 0;
};

// A clock never changes once it is made, so that many can share it. A lock passes a clock from one
// holder to the next, and clocks of thousands of warps differ in a few places only. So neighbouring
// blocks are stored together in parts, which clocks share as well.
class Clock {
 public:
  Clock() = default;
  explicit Clock(std::vector<Known> of_one_block);  // by warp

  // Whether it contains what happened in that block at that time, seen from another block.
  bool covers(uint32_t block, uint32_t warp, uint32_t interval, uint32_t tick, bool read) const;
  std::span<const Known> of(uint32_t block) const;
  bool knows(uint32_t block) const { return all_ || !of(block).empty(); }

 private:
  friend std::shared_ptr<const Clock> reads_of(const std::shared_ptr<const Clock>&);
  friend std::shared_ptr<const Clock> join(const std::shared_ptr<const Clock>&,
                                           const std::shared_ptr<const Clock>&);
  using Part = std::vector<Known>;  // sorted by block and warp
  struct Entry {
    uint32_t number = 0;  // of its first block, divided by how many there are in a part
    std::shared_ptr<const Part> part;
  };
  static std::shared_ptr<const Part> join(const std::shared_ptr<const Part>& a,
                                          const std::shared_ptr<const Part>& b);
  std::vector<Entry> entries_;  // sorted
  bool all_ = false;            // too long to keep: whoever has it is taken to know everything
};
using ClockRef = std::shared_ptr<const Clock>;

// What it knows of reads alone; null for null.
std::shared_ptr<const Clock> reads_of(const std::shared_ptr<const Clock>& clock);

// Everything that one of the two knows. If one knows all that the other knows, the result is that
// one.
ClockRef join(const ClockRef& a, const ClockRef& b);

// What has been released at addresses of memory, by one launch at a time.
class Releases {
 public:
  void release(uint64_t address, uint32_t launch, const ClockRef& clock);
  ClockRef acquire(uint64_t address, uint32_t launch);
  bool any() const { return any_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    uint32_t launch = 0;
    ClockRef clock;
  };
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<uint64_t, Entry> entries;
  };
  Stripe& of(uint64_t address) { return stripes_[address / 4 * 0x9e3779b97f4a7c15ull >> 58]; }
  Stripe stripes_[64];
  std::atomic<bool> any_{false};
};

}  // namespace ridge::vm::check
