// mbarrier objects: 64 bits of shared memory. PTX leaves their layout open; here it is
//   0–19 arrivals still to come in this phase · 20–39 arrivals of a phase · 40–60 bytes still to
//   come (tx-count, signed) · 62 the phase's parity · 63 set: initialised
// A state that mbarrier.arrive returns is the object as it was before. A block runs on one worker,
// so nothing here is atomic.
#pragma once

#include <cstdint>

namespace ridge::vm {

struct Inst;
struct Warp;

namespace mbarrier {

struct Arrival {
  uint32_t count = 1;
  uint32_t expect_tx = 0;  // added first
  bool drops = false;      // the thread takes no part in later phases
};

// The address is an offset in shared memory, checked already. They return what is wrong, or null.
const char* arrive(Warp& w, uint32_t address, const Arrival& arrival);
const char* expect_tx(Warp& w, uint32_t address, uint32_t bytes);
const char* complete_tx(Warp& w, uint32_t address, uint32_t bytes);
// One more arrival to come in this phase (cp.async.mbarrier.arrive without .noinc).
const char* add_pending(Warp& w, uint32_t address);

// The active lanes' barriers as offsets in shared memory; false after raising a fault. a, b = the
// address, a generic one or one of shared memory.
bool addresses(Warp& w, const Inst* inst, bool generic, uint32_t* out);

}  // namespace mbarrier
}  // namespace ridge::vm
