// Who watches a kernel run, instruction by instruction. While nobody does, it costs nothing: an
// observed launch has an interpreter loop of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace ridge::vm {

class Allocations;
struct AsyncEntry;
struct Block;
struct GridRun;
struct Inst;
struct Warp;

// A piece of a stream's work: its number there, and up to which number of every other stream it
// comes after.
struct WorkOrder {
  uint64_t stream = 0, number = 0;
  bool alone = true;  // there is no other stream
  std::map<uint64_t, uint64_t> after;

  bool is_before(const WorkOrder& other) const {
    if (stream == other.stream) return number <= other.number;
    const auto known = other.after.find(stream);
    return known != other.after.end() && number <= known->second;
  }
};
using WorkOrderRef = std::shared_ptr<const WorkOrder>;

class Observer {
 public:
  virtual ~Observer() = default;
  // Before the first block and after the last, on the launching thread.
  virtual void begin(const GridRun& grid, unsigned workers) = 0;
  virtual void end(const GridRun& grid) = 0;
  // Before an instruction that w.mask's lanes are about to execute. On a worker's own thread;
  // launches may overlap.
  virtual void before(const Warp& w, const Inst* inst) = 0;
  // It has not been executed after all: it waits for other lanes, and will be met again.
  virtual void put_off(const Warp& w, const Inst* inst) {
    (void)w, (void)inst;
  }
  // The process ends: time to tell what was seen.
  virtual void finish() = 0;

  // What orders the threads of a block, for those who ask whether something does. All of a block
  // happens on one worker's thread.
  virtual void block_begins(const Block&) {}
  virtual void block_ends(const Block&) {}
  virtual void barrier_opens(const Block&, uint32_t /*id*/) {}  // its waiters are still there
  virtual void lanes_meet(const Warp&, uint32_t /*lanes*/) {}   // the wait of a .sync is over
  virtual void copy_lands(const Warp&, const AsyncEntry&, uint32_t /*lanes*/) {}  // cp.async

  // What the host has the device do, on the thread that does it. Work without an order belongs to
  // what the thread was told of last.
  virtual void work_begins(const WorkOrderRef&) {}
  virtual void copies(const Allocations&, uint64_t /*to*/, uint64_t /*from*/, uint64_t /*bytes*/) {}
  virtual void fills(const Allocations&, uint64_t /*to*/, uint64_t /*bytes*/) {}
  virtual void refuses(const char* /*kind*/, const std::string& /*text*/) {}  // a call of the host
  // At the end of the process, before finish: what is still allocated.
  virtual void leaves(const Allocations&) {}
};

// Of all launches of the process from now on; nullptr: of none. It outlives them. Observers
// subscribe themselves when the software GPU is loaded (../observe/start.cpp).
void set_observer(Observer* observer);
Observer* observer();

}  // namespace ridge::vm
