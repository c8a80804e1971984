// Who watches a kernel run, instruction by instruction. While nobody does, it costs nothing: an
// observed launch has an interpreter loop of its own. Several observers may watch at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/report/finding.h"

namespace ridge::vm {

class Allocations;
struct AsyncEntry;
struct Block;
struct Cluster;
struct GridRun;
struct Inst;
struct Warp;

// A piece of a stream's work: its number there, and up to which number of every other stream it
// comes after.
struct WorkOrder {
  uint64_t stream = 0, number = 0;
  bool alone = true;  // it overlaps nothing: there is no other stream
  std::map<uint64_t, uint64_t> after;
  // Of a dependent launch: grids that it follows, but comes after only when it has waited for them.
  std::vector<std::weak_ptr<const WorkOrder>> prerequisites;  // so that a long chain is not kept
  // Whether its blocks let dependent launches begin before their end: never; when they have waited
  // for its own prerequisites; before that.
  enum class Trigger : uint8_t { none, after_wait, at_once };
  mutable std::atomic<Trigger> trigger{Trigger::none};

  // Whether the dependent launch may run beside this work until it has waited.
  bool may_overlap(const WorkOrder& dependent) const;
  // At the beginning of the other one; or, if it `has_waited`, from there on.
  bool is_before(const WorkOrder& other, bool has_waited = false) const;
};
using WorkOrderRef = std::shared_ptr<const WorkOrder>;
// One of several launches that are one piece of work, which may overlap the one before it.
WorkOrderRef part_of(const WorkOrder& whole, const WorkOrderRef& before);

class Observer {
 public:
  virtual ~Observer() = default;
  // Which blocks of a launch to run next, in ascending order. Asked before begin, where none means
  // all of them; and, if it chose some, when they are done, where none means that it is enough.
  // Beside other observers, if one of them wants all blocks, all of them run and everybody hears of
  // all: grid.chosen is empty at begin. Otherwise each hears only of the blocks that it chose
  // itself. No block runs twice, so an observer does not get those of grid.has_run that ran for
  // others before it asked for them.
  virtual std::vector<uint64_t> choose(const GridRun& grid) {
    (void)grid;
    return {};
  }
  // Whether it may choose clusters of a launch that has some: numbers of clusters then, not of
  // blocks. Only an observer that watches alone is asked.
  virtual bool chooses_clusters() const { return false; }
  // Whether an access outside every allocation ends the launch even where a GPU lets it pass.
  virtual bool wants_exact_bounds() const { return false; }
  // Before the first block and after the last, on the launching thread.
  virtual void begin(const GridRun& grid, unsigned workers) = 0;
  // Asked after begin: whether it wants to hear of anything before the end. If nobody does, the
  // launch runs as if it were not watched.
  virtual bool watches(const GridRun& grid) {
    (void)grid;
    return true;
  }
  // Asked after begin: whether blocks are to run one after the other, in ascending order.
  virtual bool wants_order(const GridRun& grid) {
    (void)grid;
    return false;
  }
  virtual void end(const GridRun& grid) = 0;
  // What a worker notes by itself while it executes a function's code, so that most instructions
  // need no call: how often each was met, and which of them are to be told. Asked whenever a worker
  // turns to a warp. The answer may differ from block to block, and what was counted for the block
  // before is in `executed` by then. What `told` points to stays as it is until the launch ends.
  struct Watch {
    struct Executed {
      uint64_t warps = 0, threads = 0;
    };
    Executed* executed = nullptr;   // by instruction of the code; none: not noted
    const uint8_t* told = nullptr;  // the same; none: all are
  };
  virtual Watch watch(const Warp& w) {
    (void)w;
    return {};
  }
  // Before an instruction that w.mask's lanes are about to execute; one that waits for other lanes
  // of its warp may be met again. On a worker's own thread; launches may overlap.
  virtual void before(const Warp& w, const Inst* inst) = 0;
  // Whether blocks may end before they are done. If so, turns of warps are short, and between two
  // of them it is asked whether a block has done enough. Not asked about clusters, nor about blocks
  // that another observer hears of who does not end blocks.
  virtual bool ends_blocks() const { return false; }
  virtual bool has_enough(const Block&) { return false; }
  // The process ends: time to tell what was seen.
  virtual void finish() = 0;

  // What orders the threads of a block, for those who ask whether something does. All of a block
  // happens on one worker's thread, and so do all blocks of a cluster, which begin and end
  // together.
  virtual void block_begins(const Block&) {}
  virtual void block_ends(const Block&) {}
  virtual void barrier_opens(const Block&, uint32_t /*id*/) {}  // its waiters are still there
  virtual void cluster_barrier_opens(const Cluster&) {}
  virtual void lanes_meet(const Warp&, uint32_t /*lanes*/) {}  // the wait of a .sync is over
  // An asynchronous copy, bulk or not, lands; cp.async tells its start by `before` alone.
  virtual void copy_lands(const Warp&, const AsyncEntry&, uint32_t /*lanes*/) {}
  virtual void copy_starts(const Warp&, const AsyncEntry&) {}  // a bulk one, for the entry's lanes
  // A wait for bulk stores has seen to it that these have read their source.
  virtual void copy_has_read(const Warp&, const AsyncEntry&, uint32_t /*lanes*/) {}
  // Whether such a bulk store lands as late as it may: when its thread waits for the writes, or the
  // block ends. Hardware has written it before that as good as always, and programs rely on it, so
  // it lands at the wait for its source otherwise.
  virtual bool wants_late_stores() const { return false; }
  // An mbarrier at this offset of the block's shared memory.
  virtual void phase_completes(const Block&, uint32_t /*offset*/) {}
  // The active lanes have asked for a phase of their mbarrier (shared addresses, by lane): for the
  // lanes of `over` it has completed.
  virtual void phase_asked(const Warp&, const Inst*, const uint32_t* /*barriers*/,
                           uint32_t /*over*/) {}
  // All that can run in the cluster spins. What is wrong, if they will do so forever.
  virtual std::optional<report::Finding> stuck(const Cluster&) { return std::nullopt; }

  // What the host has the device do, on the thread that does it. Work without an order belongs to
  // what the thread was told of last.
  virtual void work_begins(const WorkOrderRef&) {}
  virtual void copies(const Allocations&, uint64_t /*to*/, uint64_t /*from*/, uint64_t /*bytes*/) {}
  virtual void fills(const Allocations&, uint64_t /*to*/, uint64_t /*bytes*/) {}
  // Whether these are wanted: the host's own accesses to pinned and managed memory.
  virtual bool watches_host() const { return false; }
  // Work was given to a stream. It may use these ranges until the host has waited for it.
  struct Use {
    uint64_t begin, end;
    bool writes;
    const char* call;  // "cudaMemcpyAsync"; none: a kernel, which may or may not use them
  };
  virtual void submitted(const WorkOrderRef&, const Allocations&, const std::vector<Use>&) {}
  // The host has waited for the work of each stream up to this number; all observers hear of it.
  virtual void host_waited(const std::map<uint64_t, uint64_t>&) {}
  // The host touches what is closed to it. True: it was closed for a while only, and is open now.
  struct HostAccess {
    uint64_t address;
    bool writes;
    uintptr_t instruction;    // of the program
    const WorkOrder* inside;  // of the host function that a stream runs; none: the program itself
  };
  virtual bool host_touches(const HostAccess&) { return false; }
  // Whether it wants to hear, on the host's thread, of all that the host asks of streams.
  virtual bool follows_host() const { return false; }
  struct Asked {
    enum class Kind : uint8_t { nothing, kernel, copy, fill, function, event, graph };
    Kind kind = Kind::nothing;  // which may still have something to wait for
    uint64_t bytes = 0;         // of a copy or a fill
    bool from_host = false, to_host = false;
    bool is_pageable = false;        // the host's side
    bool is_dependent = false;       // a kernel that begins when the one before it lets it
    std::vector<size_t> after = {};  // of a node: earlier ones
    std::vector<Asked> nodes = {};   // of a graph, in the order they run
  };
  virtual void asked(const WorkOrderRef&, const Asked&) {}
  // What the thread runs next is this node of the graph that it was told of last.
  virtual void node_begins(size_t /*node*/) {}
  // Whether events take their time from it, and how many µs lie between two of them.
  virtual bool keeps_time() const { return false; }
  struct Recorded {
    WorkOrderRef order;
    size_t node = ~size_t(0);  // of the graph that recorded it, if one did
  };
  virtual std::optional<double> elapsed_us(const Recorded& /*from*/, const Recorded& /*to*/) {
    return std::nullopt;
  }
  // Whether it matters where in the program each launch was asked for: that costs time.
  virtual bool wants_host_calls() const { return true; }
  // Whether memory that is still allocated when the process ends is worth a finding.
  virtual bool looks_for_leaks() const { return false; }
};

// The observer sees all launches of the process from now on, until it is removed; it outlives them.
// Both are called while nothing runs. Observers subscribe when the software GPU is loaded
// (../observe/start.cpp, ../check/start.cpp). There may be up to 8.
void add_observer(Observer* observer);
void remove_observer(Observer* observer);

// This one alone hears of everything, until nullptr is set: then all those that were added do again.
// Called while nothing runs.
void set_only_observer(Observer* observer);

// Whom to tell: the one observer, or one that tells all of them in the order they were added.
// nullptr: nobody watches.
Observer* observer();

}  // namespace ridge::vm
