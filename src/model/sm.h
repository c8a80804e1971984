// One SM, cycle by cycle: four schedulers, the pipes behind them, the first cache and this SM's
// share of the memory. It replays the streams of a work and says when the last warp is done.
#pragma once

#include <array>

#include "model/figures.h"
#include "model/work.h"

namespace ridge::model {

struct SmTime {
  double cycles = 0;        // until the last block is done
  double replayed = 0;      // the same for the blocks that were replayed
  double extrapolated = 0;  // blocks that were not
  // The part of the replayed time that each was busy, 1 being all of it.
  double issue = 0, lsu = 0, l2 = 0, dram = 0, atomics = 0;
  // The same of L2 and DRAM as Nsight Compute has it: bytes of the most that there could be, from a
  // clean L2.
  double l2_of_peak = 0, dram_of_peak = 0;
  std::array<double, kPipes> pipes = {};
  double l1_hits = 0;  // of the sectors that were asked for
};

// `blocks`: how many this SM runs in all; `resident`: how many at a time; `active_sms`: how many
// SMs share the memory.
SmTime run_sm(const Work& work, const Figures& figures, double blocks, int resident,
              double active_sms);

}  // namespace ridge::model
