// Control flow, barriers, fences. The decoder turns bra, brx, call, ret and exit into the internal
// forms below, because their guards and targets are its business; their rows are here so that the
// spellings exist in one place.
#include <algorithm>
#include <atomic>

#include "vm/exec/grid.h"
#include "vm/isa/groups.h"
#include "vm/isa/internal.h"
#include "vm/isa/memory.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

// --- jumps ---

inline const Inst* land(Warp& w, const Inst* inst, int32_t offset) {
  const Inst* target = inst + offset;
  if (offset <= 0 && --w.budget <= 0) return yield(w, target);
  return target;
}
const Inst* jump_full(Warp& w, const Inst* inst) { return land(w, inst, int32_t(inst->a)); }
const Inst* jump_masked(Warp& w, const Inst* inst) { return land(w, inst, int32_t(inst->b)); }

const Inst* join_of(const Inst* inst) { return inst->c ? inst + int32_t(inst->c) : nullptr; }

const Inst* branch_full(Warp& w, const Inst* inst) {
  const uint32_t taken = w.pred(inst->d);
  if (taken == kAllLanes) return land(w, inst, int32_t(inst->a));
  if (taken == 0) return inst + 1;
  return diverge(w, taken, inst + int32_t(inst->b), inst + 1, join_of(inst));
}
const Inst* branch_masked(Warp& w, const Inst* inst) {
  const uint32_t taken = w.pred(inst->d) & w.mask;
  if (taken == w.mask) return land(w, inst, int32_t(inst->b));
  if (taken == 0) return inst + 1;
  // A loop that sheds lanes one by one must yield too.
  if (int32_t(inst->b) <= 0) --w.budget;
  return diverge(w, taken, inst + int32_t(inst->b), inst + 1, join_of(inst));
}

const Inst* join_full(Warp&, const Inst* inst) { return inst + 1; }

const Inst* guard(Warp& w, const Inst* inst) {
  const uint32_t lanes = w.pred(inst->d) & w.mask;
  if (lanes == w.mask) return inst + 1;
  const Inst* end = inst + 1 + inst->a;
  if (lanes == 0) return end;
  const uint32_t all = w.mask;
  w.mask = lanes;
  const Inst* pc = inst + 1;
  while (pc && pc != end) pc = pc->masked(w, pc);
  w.mask = all;
  return pc;
}

const Inst* poll(Warp& w, const Inst* inst) {
  w.polls = true;
  return inst + 1;
}

const Inst* exit_all(Warp& w, const Inst* inst) { return exit_lanes(w, w.mask, inst + 1); }
const Inst* exit_if(Warp& w, const Inst* inst) {
  const uint32_t lanes = w.pred(inst->d) & w.mask;
  return lanes ? exit_lanes(w, lanes, inst + 1) : inst + 1;
}

// --- barriers ---

uint32_t first_lane(const Warp& w, uint32_t operand) {
  return w.src<uint32_t>(operand)[__builtin_ctz(w.mask)];
}

enum class BarKind { sync, arrive, reduce };
// Fields: sources in a (barrier), b (count); flags say how many of them there are. bar.red: d =
// result, then barrier, [count], predicate; see `place` below.
template <BarKind Kind>
const Inst* bar(Warp& w, const Inst* inst) {
  const uint32_t sources = wide(inst).flags & 3;
  BarrierUse use;
  use.id = first_lane(w, inst->a) & 15;
  if (sources > 1) use.count = first_lane(w, inst->b);
  use.waits = Kind != BarKind::arrive;
  use.reduces = Kind == BarKind::reduce;
  uint32_t votes = 0;
  if constexpr (Kind == BarKind::reduce) votes = w.pred(sources > 1 ? inst->c : inst->b);
  return arrive_at_barrier(w, inst, inst + 2, use, votes);
}
template <int Sources>
Handlers select_bar(const Form& form) {
  if (form.has("red")) {
    const uint32_t op = uint32_t(form.index_of({"and", "or", "popc"}));
    return {bar<BarKind::reduce>, bar<BarKind::reduce>, true, Sources | op << 2};
  }
  if (form.has("arrive")) return {bar<BarKind::arrive>, bar<BarKind::arrive>, true, Sources};
  return {bar<BarKind::sync>, bar<BarKind::sync>, true, Sources};
}

const Inst* bar_warp_sync(Warp& w, const Inst* inst) {
  if (!gather_lanes(w, inst, w.src<uint32_t>(inst->a))) return nullptr;
  return inst + 1;
}
Handlers select_bar_warp(const Form&) { return {bar_warp_sync, bar_warp_sync}; }

const Inst* cluster_arrive(Warp& w, const Inst* inst) { return arrive_at_cluster(w, inst + 1); }
const Inst* cluster_wait(Warp& w, const Inst* inst) { return wait_for_cluster(w, inst + 1); }
Handlers select_cluster_barrier(const Form& form) {
  if (form.has("wait")) return {cluster_wait, cluster_wait};
  return {cluster_arrive, cluster_arrive};
}

// --- fences, traps, sleep ---

const Inst* fence(Warp&, const Inst* inst) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return inst + 1;
}
Handlers select_fence(const Form&) { return {fence, fence}; }

const Inst* trap(Warp& w, const Inst* inst) {
  return raise(w, inst, FaultKind::trap, uint32_t(__builtin_ctz(w.mask)), 0, 0, "trap");
}
Handlers select_trap(const Form&) { return {trap, trap}; }

// As long as the lane that sleeps longest. An order of warps that is to be seen again must not
// depend on the time: then sleeping only lets others run.
const Inst* nanosleep(Warp& w, const Inst* inst) {
  constexpr uint32_t kLongest = 1'000'000;  // PTX: a millisecond
  const uint32_t* duration = w.src<uint32_t>(inst->a);
  uint32_t longest = 0;
  each_active(w.mask, [&](int i) { longest = std::max(longest, duration[i]); });
  w.polls = true;
  if (w.block->grid->schedule) return yield(w, inst + 1);
  return sleep(w, inst + 1, std::min(longest, kLongest));
}
Handlers select_nanosleep(const Form&) { return {nanosleep, nanosleep}; }

const Inst* grid_trigger(Warp& w, const Inst* inst) { return let_dependents_begin(w, inst + 1); }
Handlers select_grid_trigger(const Form&) { return {grid_trigger, grid_trigger}; }
const Inst* grid_wait(Warp& w, const Inst* inst) { return wait_for_prerequisites(w, inst + 1); }
Handlers select_grid_wait(const Form&) { return {grid_wait, grid_wait}; }

// All lanes of the warp come to it together.
const Inst* registers(Warp& w, const Inst* inst) {
  uint32_t members[kWarpSize];
  std::ranges::fill(members, kAllLanes);
  if (!gather_lanes(w, inst, members)) return nullptr;
  return set_registers(w, inst, inst + 1, first_lane(w, inst->a));
}
Handlers select_registers(const Form&) { return {registers, registers}; }

const Inst* nothing(Warp&, const Inst* inst) { return inst + 1; }
Handlers select_nothing(const Form&) { return {nothing, nothing}; }

template <const Handlers* H>
Handlers select_internal(const Form&) {
  return *H;
}

constexpr Facts kJumps{.flow = Flow::jump}, kTable{.flow = Flow::table};
constexpr Facts kCalls{.flow = Flow::call, .across = Across::varies};
constexpr Facts kReturns{.flow = Flow::ret}, kExits{.flow = Flow::exit}, kTraps{.flow = Flow::trap};
constexpr Facts barrier(Sync sync, bool counted, bool aligned) {
  return {.sync = sync, .converges = true, .fences = true, .aligned = aligned, .counted = counted};
}
constexpr Facts kBar = barrier(Sync::block, false, true);
constexpr Facts kBarCounted = barrier(Sync::block, true, true);
constexpr Facts kBarArrive = barrier(Sync::block_arrive, true, true);
// These are aligned where their spelling says so.
constexpr Facts kBarrier = barrier(Sync::block, false, false);
constexpr Facts kBarrierCounted = barrier(Sync::block, true, false);
constexpr Facts kBarrierArrive = barrier(Sync::block_arrive, true, false);
constexpr Facts kMeet = barrier(Sync::warp, false, false);
constexpr Facts kClusterArrive{.sync = Sync::cluster_arrive, .fences = true};
constexpr Facts kClusterWait = barrier(Sync::cluster, false, false);
constexpr Facts kFence{.sync = Sync::fence, .fences = true};
constexpr Facts kProxyFence{
    .sync = Sync::proxy_fence,
    .fences = true,
    .left_out = "asynchronous copies land in order with the waits for them, as if fenced"};
constexpr Facts kSleeps{.converges = true};
constexpr Facts kEvent{.left_out = "there are no counters for it to trigger"};
constexpr Facts registers_set(Sync sync) {
  return {.sync = sync, .converges = true, .fences = true, .aligned = true, .arch_specific = true};
}
constexpr Facts kRegistersInc = registers_set(Sync::registers_inc);
constexpr Facts kRegistersDec = registers_set(Sync::registers_dec);
constexpr Facts kGridTrigger{.sync = Sync::grid_trigger, .converges = true, .fences = true};
constexpr Facts kGridWait{.sync = Sync::grid_wait, .converges = true, .fences = true};
#define RIDGE_RESTRICTED \
  "[acquire|release][sync_restrict::shared::cta|sync_restrict::shared::cluster][cluster]"
constexpr InstrDef kRows[] = {
    {"bra{uni}", "label", Unit::control, kJumps, select_internal<&internal::kJump>},
    {"brx[idx]{uni}", "a:u32,table", Unit::control, kTable,
     select_internal<&internal::kBranchTable>},
    {"call{uni}", "call", Unit::control, kCalls, select_internal<&internal::kCall>},
    {"ret{uni}", "", Unit::control, kReturns, select_internal<&internal::kReturn>},
    {"exit", "", Unit::control, kExits, select_internal<&internal::kExit>},
    {"bar{cta}[sync]", "a:u32", Unit::barrier, kBar, select_bar<1>},
    {"bar{cta}[sync]", "a:u32,b:u32", Unit::barrier, kBarCounted, select_bar<2>},
    {"bar{cta}[arrive]", "a:u32,b:u32", Unit::barrier, kBarArrive, select_bar<2>},
    {"bar{cta}[red][popc][u32]", "d,a:u32,b:pred", Unit::barrier, kBar, select_bar<1>},
    {"bar{cta}[red][popc][u32]", "d,a:u32,b:u32,c:pred", Unit::barrier, kBarCounted, select_bar<2>},
    {"bar{cta}[red][and|or][pred]", "d:pred,a:u32,b:pred", Unit::barrier, kBar, select_bar<1>},
    {"bar{cta}[red][and|or][pred]", "d:pred,a:u32,b:u32,c:pred", Unit::barrier, kBarCounted,
     select_bar<2>},
    {"barrier{cta}[sync]{aligned}", "a:u32", Unit::barrier, kBarrier, select_bar<1>},
    {"barrier{cta}[sync]{aligned}", "a:u32,b:u32", Unit::barrier, kBarrierCounted, select_bar<2>},
    {"barrier{cta}[arrive]{aligned}", "a:u32,b:u32", Unit::barrier, kBarrierArrive, select_bar<2>},
    {"barrier{cta}[red][popc]{aligned}[u32]", "d,a:u32,b:pred", Unit::barrier, kBarrier,
     select_bar<1>},
    {"barrier{cta}[red][popc]{aligned}[u32]", "d,a:u32,b:u32,c:pred", Unit::barrier,
     kBarrierCounted, select_bar<2>},
    {"barrier{cta}[red][and|or]{aligned}[pred]", "d:pred,a:u32,b:pred", Unit::barrier, kBarrier,
     select_bar<1>},
    {"barrier{cta}[red][and|or]{aligned}[pred]", "d:pred,a:u32,b:u32,c:pred", Unit::barrier,
     kBarrierCounted, select_bar<2>},
    {"bar[warp][sync]", "a:u32", Unit::barrier, kMeet, select_bar_warp},
    {"barrier[cluster][arrive]{release|relaxed}{aligned}", "", Unit::barrier, kClusterArrive,
     select_cluster_barrier},
    {"barrier[cluster][wait]{acquire}{aligned}", "", Unit::barrier, kClusterWait,
     select_cluster_barrier},
    {"membar[cta|gl|sys]", "", Unit::memory, kFence, select_fence},
    {"membar[proxy][alias]", "", Unit::memory, kFence, select_fence},
    {"membar[proxy][async]{global|shared::cta|shared::cluster}", "", Unit::memory, kProxyFence,
     select_fence},
    {"fence{sc|acq_rel|acquire|release}[%scope]", "", Unit::memory, kFence, select_fence},
    {"fence[proxy][alias]", "", Unit::memory, kFence, select_fence},
    {"fence[proxy][async]{global|shared::cta|shared::cluster}", "", Unit::memory, kProxyFence,
     select_fence},
    {"fence[proxy][async::generic]" RIDGE_RESTRICTED, "", Unit::memory, kProxyFence, select_fence},
    {"fence" RIDGE_RESTRICTED, "", Unit::memory, kFence, select_fence},
    {"fence[mbarrier_init][release][cluster]", "", Unit::memory, kFence, select_fence},
    {"trap", "", Unit::control, kTraps, select_trap},
    {"brkpt", "", Unit::control, kTraps, select_trap},
    {"nanosleep[u32]", "a", Unit::control, kSleeps, select_nanosleep},
    {"pmevent{mask}", "a:u32", Unit::control, kEvent, select_nothing},
    {"setmaxnreg[inc][sync][aligned][u32]", "a", Unit::control, kRegistersInc, select_registers},
    {"setmaxnreg[dec][sync][aligned][u32]", "a", Unit::control, kRegistersDec, select_registers},
    {"griddepcontrol[launch_dependents]", "", Unit::control, kGridTrigger, select_grid_trigger},
    {"griddepcontrol[wait]", "", Unit::control, kGridWait, select_grid_wait},
};
#undef RIDGE_RESTRICTED

}  // namespace

std::span<const InstrDef> control_rows() { return kRows; }

namespace internal {
const Handlers kJump = {jump_full, jump_masked};
const Handlers kBranch = {branch_full, branch_masked};
const Handlers kJoin = {join_full, arrive_at_join};
const Handlers kGuard = {guard, guard};
const Handlers kPoll = {poll, poll};
const Handlers kExit = {exit_all, exit_all};
const Handlers kExitIf = {exit_if, exit_if};
}  // namespace internal

}  // namespace ridge::vm
