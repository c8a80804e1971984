// Waiting and control, as instruction handlers see it; src/vm/exec/converge.cpp does it.
#pragma once

#include <cstring>

#include "vm/exec/warp.h"
#include "vm/isa/lane.h"

namespace ridge::vm {

// True when every live lane that the active lanes' member masks name is executing this instruction
// now. Otherwise parks the fragment until they come and returns false; the handler then returns
// nullptr.
bool gather_lanes_slow(Warp& w, const Inst* inst, const uint32_t* members);
inline bool gather_lanes(Warp& w, const Inst* inst, const uint32_t* members) {
  return w.mask == kAllLanes || gather_lanes_slow(w, inst, members);
}

// A branch taken by `taken` of the active lanes, neither none nor all. `target` and `next` are
// where the two sides go, `join` where they meet again (nullptr: never). Returns what the handler
// must return.
const Inst* diverge(Warp& w, uint32_t taken, const Inst* target, const Inst* next,
                    const Inst* join);
// The active fragment reached the join point `inst`.
const Inst* arrive_at_join(Warp& w, const Inst* inst);
// Ends `lanes` of the running fragment; `next` is where the others go on.
const Inst* exit_lanes(Warp& w, uint32_t lanes, const Inst* next);
// Lets other fragments, warps and blocks run; the fragment resumes at `next`.
const Inst* yield(Warp& w, const Inst* next);

// What %globaltimer shows.
uint64_t nanoseconds();
// Yields, and resumes when so many nanoseconds have passed.
const Inst* sleep(Warp& w, const Inst* next, uint64_t duration);

struct BarrierUse {
  uint32_t id = 0;
  uint32_t count = 0;  // 0: all threads of the block
  bool waits = true;
  bool reduces = false;
};
// Arrives at a barrier of the block; `votes` are the lanes whose predicate is true (bar.red).
const Inst* arrive_at_barrier(Warp& w, const Inst* inst, const Inst* next, const BarrierUse& use,
                              uint32_t votes);

// barrier.cluster (src/vm/exec/cluster.cpp).
const Inst* arrive_at_cluster(Warp& w, const Inst* next);
const Inst* wait_for_cluster(Warp& w, const Inst* next);

}  // namespace ridge::vm
