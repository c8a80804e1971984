// One SM's share of the second cache and of DRAM. What is asked for takes its time on the way; the
// answer says when it is there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/figures.h"
#include "model/work.h"

namespace ridge::model {

class Memory {
 public:
  // `active_sms`: how many SMs share it.
  Memory(const Work& work, const Figures& figures, double active_sms);

  // Some sectors of a line that op `op` reads; returns when they are there.
  double read(uint32_t op, double now, uint64_t line, int sectors);
  // The same by the copy engine: its way into the SM is wider, and a copy from the L2 does not wait
  // for the furthest line (bulk.latency_by_bytes).
  double read_bulk(uint32_t op, double now, uint64_t line, int sectors);
  // What another SM has asked for on behalf of this one, too: when it is there.
  double receive(double now, double bytes);
  // The same for a store: when the second cache has it.
  double write(uint32_t op, double now, int sectors);
  // An atomic of so many lanes on some sectors of a line: when its result is there.
  double update(uint32_t op, double now, uint64_t line, int sectors, double lanes);
  // When the memory will have caught up with what was asked so far.
  double backlog() const { return std::max({l2_, dram_, atomic_}); }

  double atomics_busy() const { return atomics_busy_; }
  // Bytes that came from and went to DRAM, and through the L2, where a lone sector counts for more.
  double dram_bytes() const { return dram_bytes_; }
  double l2_bytes() const { return l2_bytes_; }
  double emptied() const { return emptied_; }      // cycles in which what was in the L2 before left
  double l2_busy() const { return l2_busy_; }      // cycles
  double dram_busy() const { return dram_busy_; }  // cycles

 private:
  void find_left_in_parts(const Work& work);
  void take_l2(double now, int sectors, double rate, double least, double counts);
  struct Way {
    double rate, spread;   // bytes per cycle; cycles
    double hit, lone_hit;  // what a byte counts that is in the L2
  };
  double answer(uint32_t op, double now, uint64_t line, int sectors, const Way& way);
  bool is_missing(uint32_t op);
  double take_dram(double now, double bytes, int sectors, bool writes);
  double slower(double now, double cost);

  const Figures& figures_;
  double share_ = 1;  // of the GPU's SMs that are active
  double l2_rate_ = 0, bulk_rate_ = 0, dram_rate_ = 0;
  double kept_writes_ = 1;                 // the part of the writes that reaches DRAM
  std::vector<double> misses_, dirtied_;   // by op: of each sector
  std::vector<double> fetched_;            // by op: sectors that DRAM brings for a missing one
  std::vector<double> missing_, owed_;     // by op: what has added up of it
  std::vector<double> lane_cycles_;        // by op: of an atomic
  double any_lane_cycles_ = 0;             // of all of them together
  std::vector<size_t> group_;              // by op: of atomics on the same words
  std::vector<uint8_t> writes_parts_;      // by op: its stores write parts of sectors
  std::vector<double> left_in_parts_;      // by op: of its new sectors, those nobody completes
  std::vector<double> group_free_;         // when the words of each are free again
  double l2_ = 0, dram_ = 0, atomic_ = 0;  // when they are free again
  double l2_busy_ = 0, dram_busy_ = 0, atomics_busy_ = 0;
  double dram_bytes_ = 0, l2_bytes_ = 0, emptied_ = 0;
  double used_ = 0, seen_ = 0;                      // DRAM's use of late
  double written_ = 0, read_ = 0, dirty_left_ = 0;  // bytes
};

}  // namespace ridge::model
