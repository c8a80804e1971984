// Runs the warps of one block: a warp goes on until it waits, ends or has used its turn.
#include "vm/exec/block.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "vm/exec/grid.h"
#include "vm/exec/observer.h"
#include "vm/isa/internal.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

// Backward branches a warp may take in a turn. Long enough that turns cost nothing, short enough
// that a warp which spins on another does not waste much; shorter where spinning is expected. First
// turns are short and grow: on hardware the warps of a block start together, and programs are used
// to it.
constexpr int32_t kTurn = 8192, kShortTurn = 128, kFirstTurn = 1;

enum class WarpState : uint8_t { waiting, yielded, stopped };

// Lanes waiting at a join are a second fragment in all but name.
int32_t budget_of(const Warp& w) {
  return w.fragments.size() > 1 || !w.joins.empty() ? std::min(kShortTurn, w.turn) : w.turn;
}

// The interpreter's loop: the handlers do everything.
void execute(Warp& w, const Inst* pc) {
  while (true) {
    if (w.mask == kAllLanes)
      while (pc) pc = pc->full(w, pc);
    else
      while (pc) pc = pc->masked(w, pc);
    if (w.stop != Stop::other_loop) return;
    w.budget = budget_of(w);
    pc = w.fragments[w.current].pc;
  }
}
void count(Warp& w, const Code& code, const Inst* inst) {
  const uint64_t n = code.meta_of(inst).counts;
  w.worker->warp_instructions += n;
  w.worker->thread_instructions += n * uint64_t(__builtin_popcount(w.mask));
}
// The same with every instruction counted.
void execute_counting(Warp& w, const Inst* pc) {
  const Code& code = *w.frame->code;
  const bool full = w.mask == kAllLanes;
  while (pc) {
    count(w, code, pc);
    pc = full ? pc->full(w, pc) : pc->masked(w, pc);
    if (pc && &code != w.frame->code) return execute_counting(w, pc);
  }
}

// The same with somebody watching: one function's code, until a call or a return.
class Watched {
 public:
  Watched(Warp& w, Observer& observer)
      : w_(w), observer_(observer), code_(*w.frame->code), watch_(observer.watch(w)) {}

  bool is_current() const { return &code_ == w_.frame->code; }

  const Inst* step(const Inst* inst, bool full) {
    tell(inst);
    if (inst->full == internal::kGuard.full) return run_guarded(inst);
    const uint32_t lanes = w_.mask;
    const Inst* pc = full ? inst->full(w_, inst) : inst->masked(w_, inst);
    const bool goes_on = w_.stop == Stop::reschedule || w_.stop == Stop::other_loop;
    if (!pc && goes_on) put_off(inst, lanes);
    return pc;
  }

 private:
  void tell(const Inst* inst) {
    const auto i = size_t(inst - code_.insts.data());
    if (watch_.executed) {
      ++watch_.executed[i].warps;
      watch_.executed[i].threads +=
          w_.mask == kAllLanes ? kWarpSize : uint64_t(__builtin_popcount(w_.mask));
    }
    if (!watch_.told || watch_.told[i]) observer_.before(w_, inst);
  }
  // If it waits for other lanes it will be met again.
  void put_off(const Inst* inst, uint32_t lanes) {
    const bool waits = std::ranges::any_of(
        w_.fragments, [&](const Fragment& f) { return f.pc == inst && (f.mask & lanes); });
    if (!waits || !watch_.executed) return;
    const auto i = size_t(inst - code_.insts.data());
    --watch_.executed[i].warps;
    watch_.executed[i].threads -= uint64_t(__builtin_popcount(lanes));
  }
  const Inst* run_guarded(const Inst* guard) {
    const uint32_t all = w_.mask, lanes = w_.pred(guard->d) & all;
    const Inst* const end = guard + 1 + guard->a;
    if (lanes == 0) return end;
    const Inst* pc = guard + 1;
    w_.mask = lanes;
    while (pc && pc != end) {
      tell(pc);
      pc = lanes == kAllLanes ? pc->full(w_, pc) : pc->masked(w_, pc);
    }
    w_.mask = all;
    return pc;
  }

  Warp& w_;
  Observer& observer_;
  const Code& code_;
  const Observer::Watch watch_;
};
template <bool kCounting>
void execute_observed(Warp& w, const Inst* pc, Observer& observer) {
  const bool full = w.mask == kAllLanes;
  while (pc)
    for (Watched watched(w, observer); pc && watched.is_current();) {
      if constexpr (kCounting) count(w, *w.frame->code, pc);
      pc = watched.step(pc, full);
    }
}

// As many instructions as the schedule gives the warp; true when they are used up.
bool execute_scheduled(Warp& w, const Inst* pc, const GridRun& grid) {
  const bool full = w.mask == kAllLanes;
  std::optional<Watched> watched;
  for (uint32_t left = grid.schedule.turn(); pc; --left) {
    if (left == 0) {
      w.fragments[w.current].pc = pc;
      w.stop = Stop::yield;
      return true;
    }
    if (grid.counting) count(w, *w.frame->code, pc);
    if (!grid.observer) {
      pc = full ? pc->full(w, pc) : pc->masked(w, pc);
      continue;
    }
    if (!watched || !watched->is_current()) watched.emplace(w, *grid.observer);
    pc = watched->step(pc, full);
  }
  return false;
}

// Whether what the fragment waits for has come.
bool is_over(const Warp& w, const Fragment& f, const GridRun& grid) {
  switch (f.state) {
    case Fragment::State::asleep: return nanoseconds() >= f.wake;
    case Fragment::State::at_products: return warpgroup_of(w).has_started(*w.block, f.wake);
    case Fragment::State::at_prerequisites: return !grid.waits.load(std::memory_order_acquire);
    case Fragment::State::at_trigger: return !grid.gathers.load(std::memory_order_acquire);
    default: return false;
  }
}
// Lets it go on if it has waited long enough; otherwise says that it is still `asleep`.
void wake_up(const Warp& w, Fragment& f, const GridRun& grid, bool& asleep) {
  if (is_over(w, f, grid)) f.state = Fragment::State::runnable;
  else asleep = true;
}

WarpState run_warp(Warp& w, const GridRun& grid) {
  uint32_t yields = 0;
  while (true) {
    // The next fragment that can run, in turn.
    const uint32_t n = uint32_t(w.fragments.size());
    const uint32_t first = n > 1 ? w.next_fragment % n : 0;
    uint32_t chosen = n;
    bool asleep = false;
    for (uint32_t k = 0, at = first; k < n && chosen == n; ++k, at = at + 1 < n ? at + 1 : 0) {
      Fragment& f = w.fragments[at];
      if (f.state >= Fragment::State::asleep) wake_up(w, f, grid, asleep);
      if (f.state == Fragment::State::runnable) chosen = at;
    }
    if (chosen == n) return yields || asleep ? WarpState::yielded : WarpState::waiting;

    w.current = chosen;
    Fragment& f = w.fragments[chosen];
    w.mask = f.mask;
    w.sync_open = f.sync_open;
    f.sync_open = false;
    enter_frame(w, f.frame);
    if (!grid.schedule || w.budget <= 0) w.budget = budget_of(w);
    bool interrupted = false;
    if (grid.schedule) interrupted = execute_scheduled(w, f.pc, grid);
    else if (grid.observer && grid.counting) execute_observed<true>(w, f.pc, *grid.observer);
    else if (grid.observer) execute_observed<false>(w, f.pc, *grid.observer);
    else if (grid.counting) execute_counting(w, f.pc);
    else execute(w, f.pc);

    switch (w.stop) {
      case Stop::fault: return WarpState::stopped;
      case Stop::yield:
        w.next_fragment = w.current + 1;
        if (!interrupted) {
          if (w.polls && !w.joins.empty()) release_joined(w);
          w.polls = false;
        }
        if (++yields >= w.fragments.size()) return WarpState::yielded;
        break;
      case Stop::reschedule:
      case Stop::other_loop: w.next_fragment = w.current; break;
    }
  }
}

}  // namespace

BlockState run_block(Worker& worker, Block& block) {
  const GridRun& grid = *worker.grid;
  const bool may_end = grid.observer && grid.cluster_size == 1 && grid.observer->ends_blocks();
  const int32_t longest = grid.launch->cooperative || may_end ? kShortTurn : kTurn;
  std::vector<uint32_t> order;
  while (true) {
    bool alive = false, yielded = false, moved = false;
    if (grid.schedule) {
      order.resize(block.warps.size());
      std::iota(order.begin(), order.end(), 0);
      grid.schedule.shuffle(order);
    }
    for (size_t k = 0; k < block.warps.size(); ++k) {
      Warp& w = block.warps[order.empty() ? k : order[k]];
      if (w.fragments.empty()) continue;
      if (block.triggered && grid.gathers.load(std::memory_order_relaxed))
        return BlockState::stalled;  // the other blocks are to come as far
      const size_t before = w.fragments.size();
      const Inst* pc = w.fragments[0].pc;
      const auto state = w.fragments[0].state;
      switch (run_warp(w, grid)) {
        case WarpState::stopped: return BlockState::stopped;
        case WarpState::yielded:
          yielded = true;
          moved |= w.turn < longest;
          w.turn = std::min(64 * w.turn, longest);
          break;
        case WarpState::waiting:
          moved |= w.fragments.size() != before || w.fragments.empty() || w.fragments[0].pc != pc ||
                   w.fragments[0].state != state;
          break;
      }
      alive |= !w.fragments.empty();
      if (may_end && grid.observer->has_enough(block)) return BlockState::done;
      if (grid.stop.load(std::memory_order_relaxed)) return BlockState::stopped;
    }
    if (!alive) {
      for (Warp& w : block.warps)
        if (!w.async.empty() && !w.async.finish(w)) return BlockState::stopped;
      if (!block.warpgroups.empty() && !warpgroups_agree(block)) return BlockState::stopped;
      if (block.pool.is_used() && !block.pool.agrees(block)) return BlockState::stopped;
      return BlockState::done;
    }
    if (std::exchange(block.progressed, false) || moved) continue;
    if (yielded) return BlockState::stalled;
    // Nothing ran. A barrier may have opened during the pass; otherwise lanes may have met at
    // different instructions.
    bool can_run = false;
    for (Warp& w : block.warps) {
      for (const Fragment& f : w.fragments) can_run |= f.state == Fragment::State::runnable;
      if (!can_run) can_run = release_gathered(w, true);
    }
    if (can_run) continue;
    return BlockState::waiting;
  }
}

void start_block(Worker& worker, Block& block, Cluster& cluster, uint32_t rank, uint64_t index) {
  const GridRun& grid = *worker.grid;
  const Launch& launch = *grid.launch;
  const Code& code = *grid.code->code;
  const uint32_t threads = uint32_t(launch.block.count());
  const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  block.grid = &grid;
  block.cluster = &cluster;
  block.rank = rank;
  block.ended = block.left = false;
  block.progressed = false;
  block.index = index;
  block.ctaid[0] = uint32_t(index % launch.grid.x);
  block.ctaid[1] = uint32_t(index / launch.grid.x % launch.grid.y);
  block.ctaid[2] = uint32_t(index / launch.grid.x / launch.grid.y);
  block.threads = threads;
  block.exited_threads = warps * kWarpSize - threads;
  if (block.open_barriers) block.barriers.fill(Barrier{});
  block.open_barriers = 0;
  block.warpgroups.clear();
  block.triggered = block.has_waited = false;
  block.pool.clear();
  // Warps' registers start a few lines apart so that the same slot of two warps is not in the same
  // cache set.
  const size_t stride = code.frame_bytes + 64 * (warps > 1);
  uint8_t* registers = block.registers.at_least(stride * warps + 64);
  uint8_t* shared = block.shared.at_least(grid.shared_bytes + 64);
  const size_t local_stride = size_t(grid.code->local_bytes + 3) / 4 * 4 * kWarpSize;
  uint8_t* local = block.local.at_least(local_stride * warps + 64);
  if (block.warps.size() != warps) block.warps = std::vector<Warp>(warps);
  for (uint32_t k = 0; k < warps; ++k) {
    Warp& w = block.warps[k];
    const uint32_t lanes = std::min<uint32_t>(threads - k * kWarpSize, kWarpSize);
    w.present = lanes == kWarpSize ? kAllLanes : (1u << lanes) - 1;
    w.exited = ~w.present;
    w.index = k;
    w.worker = &worker;
    w.block = &block;
    w.params = launch.params.data();
    w.shared = shared;
    w.shared_size = grid.shared_bytes;
    w.shared_start = rank << kRankShift;
    w.arrived = 0;
    w.local = local + local_stride * k;
    w.local_size = grid.code->local_bytes;
    if (!w.joins.empty()) {
      w.free_joins.insert(w.free_joins.end(), w.joins.begin(), w.joins.end());
      w.joins.clear();
    }
    if (w.frames.size() != 1) {
      w.frames.clear();
      w.frames.push_back(std::make_unique<Frame>());
    }
    Frame& entry = *w.frames[0];
    entry.code = &code;
    entry.registers = registers + stride * k;
    entry.local_base = 0;
    entry.caller = nullptr;
    entry.return_pc = nullptr;
    entry.lanes = w.present;
    entry.stack_tops.reset();
    w.async.clear();
    w.products.clear();
    w.fragments.clear();
    Fragment f;
    f.pc = code.insts.data();
    f.mask = w.present;
    f.frame = &entry;
    w.fragments.push_back(f);
    w.next_fragment = 0;
    w.turn = kFirstTurn;
    w.polls = false;
    w.sync_open = false;
    w.stop = Stop::reschedule;
  }
}

}  // namespace ridge::vm
