// What the checker knows of launches, blocks and warps under way.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/check/asynchronous.h"
#include "vm/check/clock.h"
#include "vm/check/products.h"
#include "vm/check/record.h"
#include "vm/check/shadow.h"
#include "vm/check/site.h"
#include "vm/exec/grid.h"

namespace ridge::vm::check {

struct BlockState;

// One CPU thread of a launch.
struct WorkerState {
  uint32_t next_segment = 0, last_segment = 0;  // its own, not used yet
  uint64_t memory_epoch = 0;
  std::array<RangeRef, 16> ranges;  // by site: where its lanes were last
  std::unordered_map<const Block*, std::unique_ptr<BlockState>> blocks;
  std::vector<std::unique_ptr<BlockState>> spare;
};

// Of the work that this thread runs.
const WorkOrderRef& current_order();

struct LaunchState {
  uint32_t id = 0;
  uint32_t bound = 0;  // what lies before this segment is ordered before the launch
  const GridRun* grid = nullptr;
  std::vector<WorkerState> workers;
  // By parameter of the kernel: what it points to, where a launcher has told.
  std::vector<const LaunchNotes::Tensor*> tensors;
  std::atomic<bool> waited{false};  // some block has, for the grids that this one depends on
};

struct Flight {  // an asynchronous copy under way, one lane's
  const Inst* inst = nullptr;
  uint32_t site = 0, thread = 0, segment = 0;
  uint32_t to = 0, bytes = 0;  // no bytes: it has landed
  uint64_t from = 0, from_bytes = 0;
};

struct Visit {                                 // by a thread, to the shared memory of another block
  uint32_t site = 0, thread = 0, segment = 0;  // no site: none
  bool reads = false;
};

struct WarpState {
  uint32_t tick = 1;
  uint32_t segment = 0;  // of this tick and turn; 0: none taken yet
  uint32_t turn = 0;     // of loops, since the last barrier
  uint32_t met = 0;      // all its lanes met then: what they did before that tick is ordered
  // Where only some lanes met: row i says up to which tick lane i is ordered behind each other
  // lane.
  std::unique_ptr<std::array<std::array<uint32_t, 32>, 32>> lanes;
  ClockRef clock;     // of other blocks
  ClockRef acquired;  // what was joined to it last

  // Everything before these is visible to the device, or to the block, thanks to a fence.
  uint32_t fenced_interval = 0, fenced_tick = 0, fenced_block_tick = 0;
  ClockRef fenced_clock;
  bool fenced_now = false;  // in this interval, and nothing written since
  // What it releases, to the device and to the block; null: not made yet.
  std::array<ClockRef, 2> told;
  ClockRef released;  // last, and where
  uint64_t released_at = 0;

  // An instruction whose result has to be looked at when it has run.
  const Inst* waits_at = nullptr;
  uint32_t waits_for = 0;  // lanes
  bool waits_in_shared = false;
  std::array<uint64_t, 32> waits_on;

  // The last wait for bulk stores, and how many groups it left under way.
  uint32_t bulk_wait_site = 0, bulk_wait_newest = 0;
  // The last arrivals at mbarriers: which one came before an access.
  struct Arrived {
    uint32_t site = 0, tick = 0;
    uint64_t event = 0;
  };
  std::array<Arrived, 8> arrivals;
  uint32_t arrival_count = 0;
  const Arrived* arrived_before(uint32_t tick) const {  // null: not known
    const Arrived* last = nullptr;
    for (const Arrived& one : arrivals)
      if (one.site && one.tick <= tick && (!last || one.tick > last->tick)) last = &one;
    return last;
  }
  // By lane: the wait for an mbarrier's phase that it is in. Made with the first one.
  struct Asked {
    const Inst* inst = nullptr;  // null: in none
    const Code* code = nullptr;
    uint32_t site = 0, barrier = 0;
  };
  std::unique_ptr<std::array<Asked, 32>> asked;

  // Part of the warp waits at a barrier of the whole block; the rest may still come.
  struct Waiting {
    uint32_t site = 0, id = 0;
    uint32_t lanes = 0, missing = 0;
  } waiting;
  // The barrier of the whole block that it reached last, and the lanes that did.
  uint32_t barrier_site = 0, barrier_lanes = 0;

  // The barrier of the cluster: lanes that have arrived and not waited, those that have ever
  // arrived, where they did last, and lanes that came without others of the warp.
  uint32_t cluster_arrived = 0, cluster_ever = 0, cluster_site = 0;
  Waiting cluster_part;

  // Loads of which it is not known yet in which lanes they matter.
  struct Undecided {
    const Inst* inst = nullptr;
    const Speculated* part = nullptr;
    uint32_t lanes = 0, segment = 0;
    std::array<uint64_t, 32> at;
    bool shared = false;
  };
  std::vector<Undecided> undecided;

  std::vector<Flight> flights;
  size_t landed = 0;  // how many of the first have

  std::unique_ptr<Products> products;  // of wgmma; null: it has used none
};

struct BlockState {
  LaunchState* launch = nullptr;
  WorkerState* worker = nullptr;
  const Block* block = nullptr;
  const Code* code = nullptr;  // looked up last
  const Site* sites = nullptr;
  const Act* acts = nullptr;
  const Inst* first_inst = nullptr;
  const SpeculatedLoads* speculated = nullptr;
  const Touches* touches = nullptr;
  const uint8_t* told = nullptr;
  uint32_t index = 0;
  uint32_t interval = 1;
  uint32_t first = 0;  // segment: its shared memory has not been written before
  uint32_t bound = 0;  // what its threads did before this segment is ordered by a barrier
  bool fine = false;   // in this interval something finer than a barrier has ordered some threads
  std::vector<WarpState> warps;
  std::vector<Cell> cells;     // of shared memory
  std::vector<Cell> remote;    // the same, what other blocks of the cluster did; empty: nothing
  uint32_t cluster_bound = 0;  // segment: what was before is ordered by a barrier of the cluster
  std::vector<BlockState*> peers;  // of the cluster, by rank; empty: not looked up yet
  std::vector<Visit> visits;       // the last ones, by rank and warp; empty: none
  uint32_t exit_site = 0;          // where the last of its threads left; 0: some are there
  Visit skipped;                   // by a thread that went around a barrier of the cluster
  bool start_told = false;         // it uses blocks that may not have started: reported
  std::vector<uint8_t> written;    // its bytes that have a value, four bits per word
  // Warps by columns: what each knows of the others. One column per warp: up to which tick it is
  // ordered behind that one. In kernels with asynchronous copies there are more (proxy.cpp).
  std::vector<uint32_t> known;
  uint32_t columns = 0;
  std::array<std::vector<uint32_t>, 16> arrived;  // at barriers: what those who arrived knew
  std::unordered_map<uint32_t, std::vector<uint32_t>> tokens;  // at shared atomics
  std::unordered_map<uint32_t, Mbarrier> mbarriers;            // by their offset
  std::vector<BulkLoad> loads;
  std::vector<std::pair<uint32_t, uint32_t>> disputed;  // where some words are Record::kDisputed
  std::vector<BulkRead> reads;                          // of bulk stores
  std::vector<BulkWrite> writes;                        // of bulk stores, under way
  std::vector<WarpgroupProducts> warpgroups;            // empty: none has multiplied yet
  uint32_t starting = 0;  // the mbarrier of the bulk load that is being looked at
  uint64_t events = 0;    // starts of copies, arrivals and waits at mbarriers, in their order
  std::array<uint32_t, 16> barrier_site{};  // the one somebody waits at; 0: nobody
  // Warps that have waited for the grids that this one depends on, and when.
  struct GridWait {
    uint32_t warp, interval, tick;
  };
  std::vector<GridWait> grid_waits;
  Act last_act = Act::none;
  // Of a cluster's first block: what was seen when all blocks only span, and how often (stuck.cpp).
  uint64_t seen_events = 0, idle_rounds = 0;

  bool copies_in_flight() const {
    for (const WarpState& ws : warps)
      if (!ws.flights.empty()) return true;
    return !loads.empty();
  }
  uint32_t* row(uint32_t warp) {
    if (known.empty()) known.assign(warps.size() * columns, 0);
    return known.data() + warp * columns;
  }
};

}  // namespace ridge::vm::check
