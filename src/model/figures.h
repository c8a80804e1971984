// The figures of a GPU that the model of time is made of, in cycles of an SM and in bytes. Their
// values, and where each comes from, stand in src/core/gpus.json; the build makes tables of them.
// The H200's are measured (docs/model.md).
#pragma once

#include <array>

#include "core/gpu_spec.h"

namespace ridge::model {

// One field per rule of gpus.json, in the same order.
struct Figures {
  bool checked;  // on the card: times were compared. Otherwise they are "unchecked on this card".
  double clock_ghz;
  double tensor_clock_ghz;  // with all tensor cores at work
  int sms;

  // Cycles until an answer comes.
  double l1_latency;
  double shared_latency;
  double constant_latency;
  double l2_latency;
  double dram_latency;
  double l2_spread;  // lines lie nearer or further away by up to so much
  double dram_spread;
  double dram_queueing;  // DRAM answers so much later when it is fully used

  // What the whole GPU's memory does, in bytes per ns.
  double dram_peak_bytes_per_ns;  // what Nsight Compute calls 100 %
  double dram_read_bytes_per_ns, dram_write_bytes_per_ns, dram_copy_bytes_per_ns;  // best streams

  // Rates, as one SM's share where all SMs ask at once.
  double port_bytes_per_cycle;  // most that one SM gets
  double l2_bytes_per_cycle;
  double dram_bytes_per_cycle;
  double l2_request;          // cycles per line, however little of it
  double l2_write_request;    // cycles per single sector
  double l2_write_completed;  // beyond that, if DRAM has the rest
  double dram_mix_loss;       // of that, where half is written
  double dram_lone_bytes;     // a row of DRAM opened for two sectors, of which one is wanted
  double dram_pair_bytes;     // the same, if both are wanted and the other half of the line is not
  double l1_bytes;            // with shared memory
  double l2_bytes;            // that all SMs can use at once

  double l2_peak_bytes_per_ns;         // 100 % for Nsight Compute: to and from the SMs
  double l2_lone_miss, l2_lone_write;  // what a lone sector counts there
  double l2_hit, l2_lone_hit;  // a sector that a load finds there, of several and a lone one
  double l2_bulk_hit;          // and what a bulk copy does that finds its data

  // Atomics on global memory of the whole GPU, by how many different words they go to.
  std::array<double, 6> atomic_words;
  std::array<double, 6> atomic_lanes_per_ns;
  std::array<double, 6> atomic_float_lanes_per_ns;
  double atomic_coalesced_lanes_per_ns;

  // Blocks and launches.
  double block_interval;     // cycles between starts of blocks on one SM
  double block_turnaround;   // from the end of a block to the next one
  double launch_us;          // an empty kernel between two events
  double first_instruction;  // cycles until code and parameters are there
  double l2_dirty_bytes;     // that the memset which empties the L2 leaves to be written back
  double l2_kept_bytes;      // of what a kernel writes, still in the L2 when it ends

  // Constant memory serves one word at a time to all lanes: cycles for each further one.
  double constant_word;

  // Asynchronous copies and products.
  double bulk_issue;                  // cycles until who asked may wait again
  double bulk_bytes_per_cycle;        // most that one SM gets
  double bulk_l2_bytes_per_cycle;     // from the L2 to all SMs at once, as one SM's share
  double bulk_store_bytes_per_cycle;  // read from shared memory
  double mbarrier_arrive;             // cycles until an arrival counts
  double mbarrier_wake;               // from the last signal to who waits
  double mbarrier_turn;               // cycles per warp that arrives
  double product_latency;             // after the tensor core is done
  double product_queue;               // cycles of products that wait there

  // What a warp waits for at a fence.
  double fence_block, fence_device, fence_system;

  // Clusters.
  double cluster_barrier;  // from the last arrival on
  double cluster_latency;
  double cluster_bytes_per_cycle;  // between SMs

  // Queues.
  double lsu_queue;        // cycles of work that the memory pipe takes in advance
  double store_backlog;    // cycles by which stores may run ahead of the memory
  double barrier_latency;  // after the last warp
  double barrier_per_warp;

  // What surrounds kernels, in µs: timeline.h.
  double event_us;              // from an event to what follows it
  double launch_host_us;        // the host, for one launch or one copy
  double programmatic_host_us;  // the same, of a dependent launch
  double other_stream_us;       // more, if it goes to another stream
  double wait_us;               // from the end of the work until the host knows
  double graph_us;              // a graph of one empty kernel between two events
  double graph_node_us;         // each further node of a chain
  double programmatic_node_us;  // starts of dependent nodes
  double warm_us;  // that a node needs less than a kernel in a cold stream: its code is there

  // Copies and fills between two events: µs of an empty one, and bytes per µs.
  double to_device_us, to_device_bytes;
  double to_host_us, to_host_bytes;
  double both_ways_bytes;
  double within_device_us, within_device_bytes;
  double fill_us, fill_bytes;
  // Copies of memory that is not pinned, on the host's clock. Up to staged_bytes the host goes on
  // before they have arrived.
  std::array<double, 8> pageable_bytes;
  std::array<double, 8> to_device_pageable_us;
  std::array<double, 8> to_host_pageable_us;
  double staged_bytes;

  // Pipes: lanes per cycle and SM.
  double fma_lanes;   // f32
  double half_lanes;  // pairs of f16 or bf16
  double imad_lanes;  // integer products: if f32 has no more lanes than these, they share one pipe
  double alu_lanes;   // integer sums, logic, comparisons
  double fp64_lanes;
  double sfu_lanes;
  double wavefront_cycles;  // of shared memory and of the first cache
  double issue_cycles;      // of one instruction, where a scheduler is never without one

  // Tensor cores: operations per cycle and SM, sums in f32 (s32, f64). `mma`: what warps reach with
  // mma.sync; `tensor`: the most there is, which takes wgmma on Hopper.
  double mma_f16, mma_tf32, mma_fp8, mma_int8, mma_f64;
  double tensor_f16, tensor_tf32, tensor_fp8, tensor_int8, tensor_f64;

  // A scheduler's pipe is taken for so many cycles by one warp instruction.
  static constexpr int kSchedulers = 4;
  static constexpr float busy(double lanes) { return float(32 * kSchedulers / lanes); }
};

// Those of a GPU by its key. A GPU that is not in gpus.json has those of the nearest one that is,
// with its own SMs, clocks and memory, and is unchecked.
Figures figures_of(const GpuSpec& gpu);

// What stands on every line that unchecked figures lead to.
inline constexpr const char* kUnchecked = "unchecked on this card";

}  // namespace ridge::model
