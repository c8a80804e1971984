// Who watches a kernel run, instruction by instruction. While nobody does, it costs nothing: an
// observed launch has an interpreter loop of its own.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::vm {

struct GridRun;
struct Inst;
struct Warp;

class Observer {
 public:
  virtual ~Observer() = default;
  // Which blocks of a launch to run next, in ascending order. Asked before begin, where none means
  // all of them; and, if it chose some, when they are done, where none means that it is enough.
  virtual std::vector<uint64_t> choose(const GridRun& grid) {
    (void)grid;
    return {};
  }
  // Before the first block and after the last, on the launching thread.
  virtual void begin(const GridRun& grid, unsigned workers) = 0;
  virtual void end(const GridRun& grid) = 0;
  // What a worker notes by itself while it executes a function's code, so that most instructions
  // need no call: how often each was met, and which of them are to be told.
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
  // Before an instruction that w.mask's lanes are about to execute. On a worker's own thread;
  // launches may overlap.
  virtual void before(const Warp& w, const Inst* inst) = 0;
  // It has not been executed after all: it waits for other lanes, and will be met again.
  virtual void put_off(const Warp& w, const Inst* inst) { (void)w, (void)inst; }
  // The process ends: time to tell what was seen.
  virtual void finish() = 0;
};

// Of all launches of the process from now on; nullptr: of none. It outlives them. Observers
// subscribe themselves when the software GPU is loaded (../observe/start.cpp).
void set_observer(Observer* observer);
Observer* observer();

}  // namespace ridge::vm
