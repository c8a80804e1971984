// Divergence, reconvergence, warp-wide waits and block barriers: everything that changes which
// lanes run together.
#include <bit>

#include "vm/exec/block.h"
#include "vm/exec/cluster.h"
#include "vm/exec/grid.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

uint32_t count_lanes(uint32_t mask) {
  return mask == kAllLanes ? kWarpSize : uint32_t(std::popcount(mask));
}

Fragment& running(Warp& w) { return w.fragments[w.current]; }

Join* take_join(Warp& w) {
  if (w.free_joins.empty()) {
    w.join_pool.push_back(std::make_unique<Join>());
    w.free_joins.push_back(w.join_pool.back().get());
  }
  Join* join = w.free_joins.back();
  w.free_joins.pop_back();
  w.joins.push_back(join);
  return join;
}
void drop_join(Warp& w, Join* join) {
  std::erase(w.joins, join);
  w.free_joins.push_back(join);
}

void add_fragment(Warp& w, const Inst* pc, uint32_t mask, Join* join, Frame* frame) {
  Fragment f;
  f.pc = pc;
  f.mask = mask;
  f.join = join;
  f.frame = frame;
  w.fragments.push_back(f);
}
// Lets `lanes` go on behind the join.
void pass_join(Warp& w, const Join& join, uint32_t lanes) {
  add_fragment(w, join.pc + 1, lanes, join.parent, join.frame);
}

const Inst* reschedule(Warp& w) {
  w.stop = Stop::reschedule;
  return nullptr;
}
// The running fragment goes on with `mask` at `pc`. A change from or to a full warp needs the other
// loop.
const Inst* go_on(Warp& w, uint32_t mask, const Inst* pc) {
  const bool same_loop = (w.mask == kAllLanes) == (mask == kAllLanes);
  Fragment& f = running(w);
  f.mask = w.mask = mask;
  f.pc = pc;
  if (same_loop) return pc;
  w.stop = Stop::other_loop;
  return nullptr;
}
const Inst* leave(Warp& w) {
  w.fragments[w.current] = w.fragments.back();
  w.fragments.pop_back();
  return reschedule(w);
}

}  // namespace

const Inst* diverge(Warp& w, uint32_t taken, const Inst* target, const Inst* next,
                    const Inst* join_pc) {
  const uint32_t rest = w.mask & ~taken;
  Frame* frame = running(w).frame;
  Join* join = running(w).join;
  if (join_pc && !(join && join->pc == join_pc && join->frame == frame)) {
    Join* inner = take_join(w);
    *inner = {join_pc, frame, join, w.mask, 0};
    running(w).join = join = inner;
  }
  if (join_pc && next == join_pc) {
    join->arrived |= rest;
    return go_on(w, taken, target);
  }
  if (join_pc && target == join_pc) {
    join->arrived |= taken;
    return go_on(w, rest, next);
  }
  add_fragment(w, target, taken, join, frame);
  return go_on(w, rest, next);
}

const Inst* arrive_at_join(Warp& w, const Inst* inst) {
  Join* join = running(w).join;
  if (!join || join->pc != inst || join->frame != w.frame) return inst + 1;
  join->arrived |= w.mask;
  if (join->arrived != join->expected) return leave(w);
  const uint32_t together = join->expected;
  running(w).join = join->parent;
  drop_join(w, join);
  return go_on(w, together, inst + 1);
}

const Inst* exit_lanes(Warp& w, uint32_t lanes, const Inst* next) {
  w.exited |= lanes;
  w.block->exited_threads += count_lanes(lanes);
  const uint32_t rest = w.mask & ~lanes;
  if (rest) go_on(w, rest, next);
  else leave(w);
  // Joins wait for these lanes no longer.
  for (size_t k = 0; k < w.joins.size();) {
    Join* join = w.joins[k];
    join->expected &= ~lanes;
    if (join->expected && join->arrived != join->expected) {
      ++k;
      continue;
    }
    if (join->expected) pass_join(w, *join, join->expected);
    drop_join(w, join);
  }
  for (auto& frame : w.frames) frame->lanes &= ~lanes;
  if (!w.fragments.empty()) release_gathered(w, false);
  for (uint32_t open = w.block->open_barriers; open; open &= open - 1)
    complete_barrier(*w.block, uint32_t(__builtin_ctz(open)));
  leave_cluster(w, lanes);
  return reschedule(w);  // fragments may have moved
}

void release_joined(Warp& w) {
  for (Join* join : w.joins) {
    if (!join->arrived) continue;
    pass_join(w, *join, join->arrived);
    join->expected &= ~join->arrived;
    join->arrived = 0;
  }
}

const Inst* yield(Warp& w, const Inst* next) {
  running(w).pc = next;
  w.stop = Stop::yield;
  return nullptr;
}

const Inst* sleep(Warp& w, const Inst* next, uint64_t duration) {
  running(w).state = Fragment::State::asleep;
  running(w).wake = nanoseconds() + duration;
  return yield(w, next);
}

// --- .sync instructions ---

bool gather_lanes_slow(Warp& w, const Inst* inst, const uint32_t* members) {
  if (w.sync_open) {
    w.sync_open = false;
    return true;
  }
  uint32_t need = 0;
  each_active(w.mask, [&](int i) { need |= members[i]; });
  if (!(need & ~w.exited & ~w.mask)) return true;
  Fragment& f = running(w);
  f.state = Fragment::State::at_sync;
  f.pc = inst;
  f.need = need;
  release_gathered(w, false);
  w.stop = Stop::reschedule;
  return false;
}

bool release_gathered(Warp& w, bool any_place) {
  for (size_t s = 0; s < w.fragments.size(); ++s) {
    if (w.fragments[s].state != Fragment::State::at_sync) continue;
    const Inst* pc = w.fragments[s].pc;
    Frame* frame = w.fragments[s].frame;
    // The parked fragments this one waits for, and those they wait for.
    uint32_t lanes = w.fragments[s].mask, need = w.fragments[s].need;
    for (bool grew = true; grew;) {
      grew = false;
      for (const Fragment& f : w.fragments) {
        if (f.state != Fragment::State::at_sync || (f.mask & lanes) || !(f.mask & need)) continue;
        if (!any_place && (f.pc != pc || f.frame != frame)) continue;
        lanes |= f.mask;
        need |= f.need;
        grew = true;
      }
    }
    if (need & ~w.exited & ~lanes) continue;
    if (Observer* watching = w.block->grid->observer) watching->lanes_meet(w, lanes);

    if (any_place) {
      // Lanes meet at different instructions, as in the two halves of an if that both call
      // __syncwarp: the wait is over, and each executes its own with the lanes it has.
      for (Fragment& f : w.fragments)
        if (f.state == Fragment::State::at_sync && (f.mask & lanes)) {
          f.state = Fragment::State::runnable;
          f.need = f.mask;
          f.sync_open = true;
        }
      return true;
    }
    bool one_join = true;
    for (const Fragment& f : w.fragments)
      if (f.state == Fragment::State::at_sync && (f.mask & lanes))
        one_join &= f.join == w.fragments[s].join;
    if (one_join) {
      // Converged again: one fragment.
      w.fragments[s].mask = lanes;
      w.fragments[s].state = Fragment::State::runnable;
      for (size_t k = w.fragments.size(); k-- > 0;)
        if (k != s && (w.fragments[k].mask & lanes)) {
          w.fragments.erase(w.fragments.begin() + long(k));
          if (k < s) --s;
        }
      return true;
    }
    // They wait for different joins, so they only execute this instruction together.
    const uint32_t mask = w.mask;
    uint8_t* registers = w.base[0];
    Frame* old_frame = w.frame;
    w.mask = lanes;
    enter_frame(w, frame);
    w.sync_open = true;
    const Inst* next = pc->masked(w, pc);
    w.sync_open = false;
    for (Fragment& f : w.fragments)
      if (f.state == Fragment::State::at_sync && (f.mask & lanes)) {
        f.state = Fragment::State::runnable;
        f.pc = next;
      }
    w.mask = mask;
    if (old_frame) enter_frame(w, old_frame);
    w.base[0] = registers;
    return true;
  }
  return false;
}

// --- barriers of a block ---

const Inst* arrive_at_barrier(Warp& w, const Inst* inst, const Inst* next, const BarrierUse& use,
                              uint32_t votes) {
  Block& block = *w.block;
  Barrier& barrier = block.barriers[use.id];
  block.open_barriers |= 1u << use.id;
  barrier.whole_block = use.count == 0;
  barrier.expected = use.count;
  // A counted barrier counts whole warps: the last lanes of a warp bring those that have exited
  // along.
  const bool completes_warp = (w.mask | w.exited) == kAllLanes;
  barrier.arrived += use.count && completes_warp ? kWarpSize : count_lanes(w.mask);
  if (use.reduces) {
    votes &= w.mask;
    barrier.any |= votes != 0;
    barrier.all &= votes == w.mask;
    barrier.count += count_lanes(votes);
  }
  Fragment& f = running(w);
  f.pc = next;
  if (use.waits) {
    f.state = Fragment::State::at_barrier;
    f.barrier = uint8_t(use.id);
    f.reduces = use.reduces ? inst : nullptr;
  }
  complete_barrier(block, use.id);
  return f.state == Fragment::State::runnable ? next : reschedule(w);
}

void complete_barrier(Block& block, uint32_t id) {
  Barrier& barrier = block.barriers[id];
  if (!barrier.arrived) return;
  const uint32_t all = uint32_t(block.warps.size()) * kWarpSize;
  if (barrier.whole_block ? barrier.arrived + block.exited_threads < all
                          : barrier.arrived < barrier.expected)
    return;
  if (Observer* watching = block.grid->observer) watching->barrier_opens(block, id);
  for (Warp& w : block.warps)
    for (Fragment& f : w.fragments) {
      if (f.state != Fragment::State::at_barrier || f.barrier != id) continue;
      f.state = Fragment::State::runnable;
      if (!f.reduces) continue;
      const uint32_t op = wide(f.reduces).flags >> 2;  // and, or, popc
      if (op == 2) {
        auto* d = reinterpret_cast<uint32_t*>(f.frame->registers + f.reduces->d);
        each_active(f.mask, [&](int i) { d[i] = barrier.count; });
      } else {
        auto& p = *reinterpret_cast<uint32_t*>(f.frame->registers + f.reduces->d);
        const bool yes = op == 0 ? barrier.all : barrier.any;
        p = (p & ~f.mask) | (yes ? f.mask : 0);
      }
      f.reduces = nullptr;
    }
  barrier = Barrier{};
  block.open_barriers &= ~(1u << id);
}

}  // namespace ridge::vm
