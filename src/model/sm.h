// One SM, cycle by cycle: four schedulers, the pipes behind them, the first cache, and this SM's
// share of the second cache and of DRAM. It replays the streams of a trace and says when the last
// warp is done.
#pragma once

#include <array>

#include "model/trace.h"

namespace ridge::model {

// The figures of a GPU that an SM's time depends on, in cycles and bytes.
struct Figures {
  double clock_ghz = 1.98;
  int sms = 132;
  double l1_latency = 33, shared_latency = 23, l2_latency = 275, dram_latency = 655;
  double l1_bytes = 256 * 1024;
  double l2_bytes_per_cycle = 37.5;    // this SM's share where all SMs ask
  double port_bytes_per_cycle = 64;    // most that one SM gets
  double dram_bytes_per_cycle = 16.4;  // share
  double dram_sector_bytes = 56;       // what an isolated sector costs more than its 32 bytes… see cost()
  double block_interval = 157;         // cycles between two blocks that start on an SM, all SMs at once
  double block_turnaround = 430;       // from the end of a block to the first instruction of the next
  double launch_us = 2.85;             // an empty kernel between two events
  double queue = 64;                   // cycles of work that the memory pipe takes in advance
  double store_backlog = 1500;
  double dram_mix_loss = 0.09;         // of its rate, where half is read and half is written
  double l2_dirty_bytes = 25e6;        // in the L2 before the launch, as a memset leaves it
  double first_instruction = 1000;     // cycles until the first instructions and parameters are there
  double queueing = 400;               // cycles by which DRAM answers later when it is fully used
  double l2_spread = 60, dram_spread = 120;  // lines are nearer or further away by up to so much
  double l2_request = 1.75, l2_write_request = 3.6;  // cycles of this SM's share, however small
};

struct SmTime {
  double cycles = 0;        // until the last block of the list is done
  double simulated = 0;     // the same for those that were replayed
  double extrapolated = 0;  // blocks that were not
  double issued = 0;
  std::array<double, kPipes> busy = {};  // cycles that each pipe was taken, the four schedulers' added
  double l2_bytes = 0, dram_bytes = 0;
  double l1_hits = 0, l1_sectors = 0;
};

// `blocks`: how many this SM runs in all; `resident`: how many at a time; `active_sms`: how many
// SMs share the memory.
SmTime run_sm(const Trace& trace, const Figures& figures, double blocks, int resident, double active_sms);

}  // namespace ridge::model
