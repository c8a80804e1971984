// Handlers the decoder uses that no PTX spelling names: jumps, guards, joins, calls, width changes,
// special registers.
#pragma once

#include "vm/isa/form.h"

namespace ridge::vm::internal {

// Offsets are in instructions, relative to the jump. a: taken, for a full warp (past a join, where
// a full warp has nothing to wait for). b: taken, otherwise. branch: d = predicate; c = the join's
// offset, 0 for none.
extern const Handlers kJump, kBranch;
extern const Handlers kJoin;
// Executes the next `a` slots for the lanes whose predicate d holds.
extern const Handlers kGuard;
extern const Handlers kPoll;    // stands before loads that may wait for another thread's store
extern const Handlers kExit;    // all active lanes
extern const Handlers kExitIf;  // those whose predicate d holds
extern const Handlers kReturn;  // from a function
// b = index of the call site; a = register with the function's address, or none.
extern const Handlers kCall;
extern const Handlers kBranchTable;  // a = index register, b = table, c = the join's offset

// mov d, %special: a = a Special; 32 bits or 64, or a predicate.
extern const Handlers kSpecial32, kSpecial64, kSpecialPredicate;
// mov d, a local variable: d = b + the frame's base.
extern const Handlers kLocalAddress;

// An atomic operation on a vector: its whole address range, before the first element. c = bytes.
extern const Handlers kCheckVector;

// Register of `from` bytes per lane to one of `to`; sign or zero extension, or truncation.
Handlers resize(int from, int to, bool is_signed);
// mov.b64 d, {a, b}: parts in a, b, c, x[0]; and back: d, x[0] … receive the parts of a.
Handlers pack(int whole, int parts);
Handlers unpack(int whole, int parts);

// ld.param of a kernel at a constant offset: uniform, so one broadcast. b = offset.
Handlers load_param(Type type, int elements);

// 2, 4 or 8 neighbouring 32-bit shared loads at once: lane i's words k = 0, 1 … at a + b go to d,
// x[0], x[1] … `order` names the words in the program's order, a hexadecimal digit each, the lowest
// first: the first that the program would fault on is the one to report.
Handlers load_shared_run(int words, uint32_t order);

enum class Special : uint32_t {
  none,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size,
  reserved_smem_offset,
  aggr_smem_size,
  envreg1,
  envreg2,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  zero,
};
struct SpecialDef {
  std::string_view name;
  Special id;
  bool is64;
};
const SpecialDef* find_special(std::string_view name);

}  // namespace ridge::vm::internal
