// Scheduling inside one block.
#pragma once

#include "vm/decode/code.h"
#include "vm/exec/warp.h"

namespace ridge::vm {

// Makes `frame` the one handlers address.
inline void enter_frame(Warp& w, Frame* frame) {
  w.frame = frame;
  w.base[0] = frame->registers;
  w.base[1] = const_cast<uint8_t*>(frame->code->constants_of(w.shared_start >> kRankShift));
}

// Lets a group of parked fragments go whose member masks are complete. With any_place they need not
// wait at the same instruction: the last resort before a deadlock is reported. True when some
// fragment can run again.
bool release_gathered(Warp& w, bool any_place);

// Lets lanes that wait at joins go on without those that spin: the spinning ones may be waiting for
// them.
void release_joined(Warp& w);

// Opens barrier `id` if everybody it waits for has arrived.
void complete_barrier(Block& block, uint32_t id);

// Prepares `block` to run block `index` of the grid, of this rank in its cluster; reuses its
// memory.
void start_block(Worker& worker, Block& block, Cluster& cluster, uint32_t rank, uint64_t index);

}  // namespace ridge::vm
