// Blocks of a cluster: started together, run in turn on one worker, with a barrier of their own and
// with each other's shared memory in reach.
#pragma once

#include "vm/exec/grid.h"

namespace ridge::vm {

// Prepares the blocks of cluster `index` of the grid; reuses their memory.
void start_cluster(Worker& worker, Cluster& cluster, uint64_t index);

// Runs the blocks in turn until all are done, or until they only spin.
BlockState run_cluster(Worker& worker, Cluster& cluster);

// Threads of the cluster have left the kernel: its barrier waits for them no longer.
void leave_cluster(Warp& w, uint32_t lanes);

}  // namespace ridge::vm
