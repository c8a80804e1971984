// What instructions ask for beyond the facts of their rows, for those who watch them.
#pragma once

#include <optional>

#include "vm/exec/tensor_copy.h"
#include "vm/exec/warp.h"
#include "vm/isa/form.h"

namespace ridge::vm {

enum class Bulk : uint8_t {
  none,
  load,      // from global to shared memory
  store,     // from shared to global memory, and reductions there
  to_peer,   // from shared memory to that of a block of the cluster, and reductions there
  prefetch,  // from global memory to the L2
};
Bulk bulk_of(const Match& match);
inline bool copies_tensor(const Match& match) { return match.facts().encoding == Encoding::tensor; }
// A bulk load to several blocks of the cluster, by a mask of their ranks.
bool is_multicast(const Match& match);
// Whether an access says that its address may be that of another block of the cluster.
bool reaches_cluster(const Match& match);
// An mbarrier's phase that a lane is about to wait for: different phases have different numbers.
uint64_t awaited_phase(const Match& match, const Warp& w, const Inst* inst, uint32_t lane);

// The copy of a tensor that a lane is about to start; nothing where it cannot be.
std::optional<TensorCopy> tensor_copy_of(const Warp& w, const Inst* inst, uint32_t lane,
                                         bool loads);

}  // namespace ridge::vm
