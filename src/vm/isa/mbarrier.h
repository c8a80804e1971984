// mbarrier objects: 64 bits of shared memory. PTX leaves their layout open; this is an H200's
// (docs/hopper_facts.md), with counts negated, so that they count up to zero:
//   1–20 arrivals of a phase · 21–41 bytes still to come (tx-count, signed) · 43–62 arrivals still
//   to come in this phase · 63 the phase's parity
// A state that mbarrier.arrive returns is the object as it was before. A cluster runs on one
// worker, so nothing here is atomic.
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

// The address is one of the cluster's shared memory, checked already. They return what is wrong, or
// null.
const char* arrive(Warp& w, uint32_t address, const Arrival& arrival);
const char* expect_tx(Warp& w, uint32_t address, uint32_t bytes);
const char* complete_tx(Warp& w, uint32_t address, uint32_t bytes);
// One more arrival to come in this phase (cp.async.mbarrier.arrive without .noinc).
const char* add_pending(Warp& w, uint32_t address);

// What an object says of its phase, for reports.
struct State {
  uint32_t pending = 0, expected = 0;  // arrivals: still to come in this phase, and of each phase
  int64_t tx = 0;                      // bytes still to come
  uint32_t parity = 0;
};
State state_at(const uint8_t* object);

// The active lanes' barriers as shared addresses, of peers only where these are allowed; false
// after raising a fault. a, b = the address, a generic one or one of shared memory.
bool addresses(Warp& w, const Inst* inst, bool generic, bool of_peers, uint32_t* out);

}  // namespace mbarrier
}  // namespace ridge::vm
