// The figures of a GPU that the model of time is made of, in cycles of an SM and in bytes. Those of
// the H200 are measured (bench/model/h200.json, docs/model.md); the names of the measurements stand
// beside them.
#pragma once

#include <array>

namespace ridge::model {

struct Figures {
  double clock_ghz = 1.98;         // clock.sm
  double tensor_clock_ghz = 1.57;  // with all tensor cores at work: sustained.bf16.clock
  int sms = 132;

  // Cycles until an answer comes.
  double l1_latency = 33;        // latency.l1_by_footprint
  double shared_latency = 23;    // shared.latency
  double constant_latency = 30;  // assumed: latency.constant_by_footprint is still to be measured
  double l2_latency = 275;       // latency.l2_by_footprint
  double dram_latency = 655;     // latency.dram_by_footprint
  double l2_spread = 60;         // lines lie nearer or further away by up to so much
  double dram_spread = 120;
  double dram_queueing =
      400;  // DRAM answers so much later when it is fully used: dram.read_by_in_flight

  // Rates, as one SM's share where all SMs ask at once.
  double port_bytes_per_cycle = 64;  // most that one SM gets: dram.read_by_sms
  double l2_bytes_per_cycle = 37.5;  // l2.read_by_footprint
  double l2_request = 1.75;          // cycles per line, however little of it: gather.words_by_span
  double l2_write_request = 3.6;     // cycles per single sector: scatter.words_by_span
  double l2_write_completed =
      14;  // beyond that, if DRAM has the rest: dram.write_sectors_by_stride
  double dram_bytes_per_cycle = 16.4;  // dram.read
  double dram_mix_loss = 0.09;         // of that, where half is written: dram.copy
  double dram_lone_bytes = 42;  // a row of DRAM opened for two sectors: dram.read_sectors_by_stride
  double l1_bytes = 228 * 1024;  // with shared memory: latency.l1_by_footprint
  double l2_bytes = 37e6;        // that all SMs can use at once: latency.l2_by_footprint

  // What Nsight Compute calls 100 %, of the whole GPU: bench/model/programs_h200.json.
  double dram_peak_bytes_per_ns = 4810;
  double l2_peak_bytes_per_ns = 4310;  // to and from the SMs; half of it crosses the L2 twice
  double l2_lone_miss = 2, l2_lone_write = 1.5;  // what a lone sector counts there
  double l2_bulk_hit = 0.1;                      // and what a bulk copy does that finds its data

  // Atomics on global memory of the whole GPU, by how many different words they go to:
  // atomic.red_u32_by_addresses, atomic.red_f32_by_addresses.
  std::array<double, 6> atomic_words = {1, 4, 64, 1024, 16384, 4194304};
  std::array<double, 6> atomic_lanes_per_ns = {1.34, 3.86, 3.4, 10.2, 54.6, 76.6};
  std::array<double, 6> atomic_float_lanes_per_ns = {0.563, 1.65, 3.39, 10.1, 54.7, 78};
  double atomic_coalesced_lanes_per_ns = 228;

  // Blocks and launches.
  double block_interval = 157;  // cycles between starts of blocks on one SM: blocks.rate_by_threads
  double block_turnaround =
      430;                  // from the end of a block to the next one: waves.us_by_block_cycles
  double launch_us = 2.85;  // an empty kernel between two events: event.around_kernel_cold
  double first_instruction = 1000;  // cycles until code and parameters are there
  double l2_dirty_bytes = 25e6;  // that the memset which empties the L2 leaves to be written back
  double l2_kept_bytes = 20e6;   // of what a kernel writes, still in the L2 when it ends

  // Constant memory serves one word at a time to all lanes: cycles for each further one. Measured
  // by table_lookup of bench/model/programs.
  double constant_word = 10.7;

  // Asynchronous copies and products.
  double bulk_issue = 310;  // cycles until who asked may wait again: bulk.read_by_in_flight_2K
  double bulk_bytes_per_cycle = 112;  // most that one SM gets: bulk.latency_by_bytes
  // From the L2 to all SMs at once, as one SM's share: measured by wgmma_4_stages of
  // bench/model/programs, where blocks share their tiles.
  double bulk_l2_bytes_per_cycle = 50;
  double bulk_store_bytes_per_cycle = 64;  // read from shared memory: bulk.write_by_bytes
  double mbarrier_arrive = 30;  // cycles until an arrival counts: mbarrier.cycles_by_threads
  double mbarrier_wake = 10;    // from the last signal to who waits: bulk.latency_by_bytes
  double mbarrier_turn = 4.2;   // cycles per warp that arrives: mbarrier.cycles_by_threads
  double product_latency = 68;  // after the tensor core is done: wgmma.*.latency
  double product_queue = 128;   // cycles of products that wait there: wgmma.*.rate_by_warpgroups

  // What a warp waits for at a fence: fence.block, fence.device, fence.system.
  double fence_block = 42, fence_device = 514, fence_system = 1149;

  // Clusters.
  double cluster_barrier = 350;           // from the last arrival on: cluster.barrier_by_size
  double cluster_latency = 200;           // cluster.shared_latency_by_size
  double cluster_bytes_per_cycle = 15.5;  // between SMs: cluster.shared_load_16_by_size

  // Queues.
  double lsu_queue = 64;        // cycles of work that the memory pipe takes in advance
  double store_backlog = 1500;  // cycles by which stores may run ahead of the memory
  double barrier_latency = 12;  // after the last warp: barrier.cycles_by_warps
  double barrier_per_warp = 2;
};

}  // namespace ridge::model
