// What orders threads: barriers, meetings of lanes, fences with what is released and acquired
// behind them. mbarriers.cpp has the rest.
#include "vm/check/checker.h"
#include "vm/check/knowledge.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

uint32_t live_lanes(const Warp& w) { return w.present & ~w.exited; }

}  // namespace

bool Checker::ordered(const Access& a, const Segment& then, uint32_t thread, const Word& word,
                      bool read) {
  const BlockState& b = a.b;
  if (then.launch != b.launch->id)
    return launch_is_before(then.launch, b.launch->id, has_waited(a));
  if (then.block != b.index)
    return a.ws.clock && a.ws.clock->covers(then.block, then.warp, then.interval, then.tick, read);
  if (then.interval < b.interval) return true;
  if (then.warp == a.w.index) {
    const uint32_t lane = word.thread % kWarpSize, other = thread % kWarpSize;
    if (lane == other || then.tick < a.ws.met) return true;
    if (a.ws.lanes && (*a.ws.lanes)[lane][other] > then.tick) return true;
  }
  return !b.known.empty() && b.known[a.w.index * b.columns + then.warp] > then.tick;
}

// --- barriers of the block ---

void Checker::on_barrier(const Access& a) {
  BlockState& b = a.b;
  const uint32_t id = a.w.src<uint32_t>(a.inst->a)[__builtin_ctz(a.w.mask)] & 15;
  if (a.s.aligned && !a.s.writes) reach_barrier(a, id);
  if (a.s.writes) add_to(b.arrived[id], b, a.w.index, next_tick(a.ws));
}

// A barrier of the whole block: all its threads must come to it together.
void Checker::reach_barrier(const Access& a, uint32_t id) {
  BlockState& b = a.b;
  const uint32_t live = live_lanes(a.w);
  if (b.barrier_site[id] && b.barrier_site[id] != a.s.id) report_barriers(a, b.barrier_site[id]);
  b.barrier_site[id] = a.s.id;
  // Lanes that were let go before the others, because those wait for something, come first. They
  // are apart only if the others do not come before the barrier opens.
  if (a.w.mask != live) {
    WarpState::Waiting& waiting = a.ws.waiting;
    if (!waiting.site) waiting = {a.s.id, id, a.w.mask, live};
    waiting.missing &= ~a.w.mask;
    if (!waiting.missing) waiting = {};
  }
  if (a.ws.barrier_site != a.s.id) a.ws.barrier_lanes = 0;
  a.ws.barrier_site = a.s.id;
  a.ws.barrier_lanes |= a.w.mask;
}

// Threads that have left the kernel are not waited for. But who came to this barrier in an earlier
// turn of a loop should have come again.
void Checker::look_for_leavers(BlockState& b, const Block& block, uint32_t id) {
  if (block.exited_threads == block.warps.size() * kWarpSize - block.threads) return;
  for (const Warp& w : block.warps)
    for (const Fragment& f : w.fragments) {
      if (f.state != Fragment::State::at_barrier || f.barrier != id) continue;
      for (const Warp& other : block.warps) {
        const WarpState& ws = b.warps[other.index];
        const uint32_t gone = other.exited & other.present & ws.barrier_lanes;
        if (gone && ws.barrier_site && ws.barrier_site == b.warps[w.index].barrier_site)
          return report_leavers(b, w.index, f.mask, other.index, gone);
      }
      return;
    }
}

void Checker::barrier_opens(const Block& block, uint32_t id) {
  BlockState& b = state_of(block);
  b.barrier_site[id] = 0;
  for (uint32_t w = 0; w < b.warps.size(); ++w)
    if (b.warps[w].waiting.site && b.warps[w].waiting.id == id) report_part_of_warp(b, w);
  if (block.barriers[id].whole_block) look_for_leavers(b, block, id);
  uint32_t waiting = 0;  // threads
  for (const Warp& w : block.warps)
    for (const Fragment& f : w.fragments)
      if (f.state == Fragment::State::at_barrier && f.barrier == id)
        waiting += uint32_t(__builtin_popcount(f.mask));
  const uint32_t all = uint32_t(block.warps.size()) * kWarpSize;
  if (block.barriers[id].whole_block || waiting + block.exited_threads >= all) {
    // Fences of the threads before the barrier hold for those behind it.
    bool fenced = false;
    ClockRef clock;
    for (const WarpState& ws : b.warps) {
      fenced |= ws.fenced_now;
      clock = join(clock, ws.clock);
    }
    begin_interval(b, clock, fenced);
  } else {
    b.fine = true;
    for (const Warp& w : block.warps)
      for (const Fragment& f : w.fragments) {
        if (f.state != Fragment::State::at_barrier || f.barrier != id) continue;
        learn(b, w.index, b.arrived[id]);
        meet(b, w, f.mask);
      }
  }
  b.arrived[id].clear();
}

// All threads of the block are ordered behind all that they did before. `clock` is what they know
// of other blocks; with `fenced`, what they did is visible to those, too.
void Checker::begin_interval(BlockState& b, const ClockRef& clock, bool fenced) {
  share_columns(b);
  forget_over(b);
  ++b.interval;
  b.fine = false;
  for (WarpState& ws : b.warps) {
    next_tick(ws);
    ws.met = ws.tick;
    ws.turn = 0;
    ws.lanes.reset();
    ws.clock = clock;
    ws.fenced_now = false;
    ws.told = {};
    if (!fenced) continue;
    ws.fenced_interval = b.interval;
    ws.fenced_clock = clock;
  }
  b.bound = segment_of(b, b.warps[0], 0);
}

// --- lanes of a warp ---

void Checker::on_lanes(const Access& a) {
  const Warp& w = a.w;
  const uint32_t operands[] = {a.inst->a, a.inst->b, a.inst->c,
                               a.s.mask_field == 3 ? wide(a.inst).x[0] : 0};
  const uint32_t* members = w.src<uint32_t>(operands[a.s.mask_field]);
  uint32_t need = 0, first = members[__builtin_ctz(w.mask)];
  bool same = true;
  each_active(w.mask, [&](int i) {
    need |= members[i];
    same &= members[i] == first;
    if (!(members[i] >> i & 1)) report_mask(a, uint32_t(i), false);
  });
  if (!same)
    each_active(w.mask, [&](int i) {
      for (uint32_t left = members[i] & w.mask; left; left &= left - 1)
        if (members[__builtin_ctz(left)] != members[i]) {
          report_mask(a, uint32_t(i), true);
          return;
        }
    });
  if (!w.sync_open && (need & ~w.exited & ~w.mask)) return;
  if (a.s.shuffle) on_shuffle(a, members);
  if (a.s.act != Act::meet) return;
  if (same) return meet(a.b, w, w.mask);
  for (uint32_t left = w.mask; left;) {
    const uint32_t group = members[__builtin_ctz(left)] & w.mask;
    meet(a.b, w, group);
    left &= ~(group | (left & -left));
  }
}

void Checker::lanes_meet(const Warp& w, uint32_t lanes) {
  BlockState& b = state_of(*w.block);
  for (const Fragment& f : w.fragments)
    if (f.state == Fragment::State::at_sync && (f.mask & lanes) &&
        site_of(b, *f.frame->code, f.pc).act != Act::meet)
      return;
  meet(b, w, lanes);
}

void Checker::meet(BlockState& b, const Warp& w, uint32_t lanes) {
  WarpState& ws = b.warps[w.index];
  const uint32_t tick = next_tick(ws);
  b.fine = true;
  if ((lanes & live_lanes(w)) == live_lanes(w)) {
    ws.met = tick;
    return;
  }
  if (!ws.lanes) ws.lanes = std::make_unique<std::array<std::array<uint32_t, 32>, 32>>();
  std::array<uint32_t, 32> all{};
  each_active(lanes, [&](int i) {
    for (size_t k = 0; k < 32; ++k) all[k] = std::max(all[k], (*ws.lanes)[size_t(i)][k]);
  });
  each_active(lanes, [&](int i) { all[size_t(i)] = tick; });
  each_active(lanes, [&](int i) { (*ws.lanes)[size_t(i)] = all; });
}

// --- fences, and what is told behind them ---

void Checker::on_fence(const Access& a) { fence(a.b, a.ws, a.s.block_scope); }

void Checker::fence(BlockState& b, WarpState& ws, bool block_scope) {
  ws.fenced_block_tick = next_tick(ws);
  ws.told = {};
  if (block_scope) return;
  ws.fenced_tick = ws.tick;
  ws.fenced_interval = b.interval;
  ws.fenced_clock = ws.clock;
  ws.fenced_now = true;
}

// What the warp tells everybody when it releases. It is the same until it passes another fence.
ClockRef Checker::told_by(const Access& a) {
  BlockState& b = a.b;
  WarpState& ws = a.ws;
  ClockRef& told = ws.told[a.s.block_scope];
  if (told) return told;
  std::vector<Known> own;
  const bool device = !a.s.block_scope;
  const uint32_t* row = b.known.empty() ? nullptr : b.row(a.w.index);
  for (uint32_t v = 0; v < b.warps.size(); ++v) {
    if (v == a.w.index)
      own.push_back({b.index, v, device ? ws.fenced_interval : 0, device ? ws.fenced_tick : 0,
                     ws.fenced_block_tick, b.interval});
    else if (row && row[v]) own.push_back({b.index, v, 0, device ? row[v] : 0, row[v], 0});
  }
  const ClockRef mine = std::make_shared<const Clock>(std::move(own));
  const bool fenced = ws.fenced_interval || ws.fenced_block_tick;
  return told = join(fenced ? ws.fenced_clock : reads_of(ws.clock), mine);
}

void Checker::release(const Access& a, uint32_t lanes, const uint64_t* at, bool shared) {
  BlockState& b = a.b;
  WarpState& ws = a.ws;
  if (a.s.releases) fence(b, ws, a.s.block_scope);
  // A plain flag without a fence says nothing about writes. But what was read before a barrier has
  // been read, and who sees the flag may overwrite it.
  const bool fenced = ws.fenced_interval || ws.fenced_block_tick;
  if (!fenced && (shared || a.s.act != Act::store || b.interval == 1)) return;
  if (shared) {
    each_active(lanes, [&](int i) {
      add_to(b.tokens[uint32_t(at[i])], b, a.w.index, ws.fenced_block_tick);
    });
    return;
  }
  const ClockRef clock = told_by(a);
  uint64_t done = 0;
  each_active(lanes, [&](int i) {
    if (at[i] == done) return;
    done = at[i];
    if (ws.released == clock && ws.released_at == at[i]) return;  // it spins
    releases_.release(at[i], b.launch->id, clock);
    ws.released = clock;
    ws.released_at = at[i];
  });
}

// What is there to be acquired is known when the instruction has run.
void Checker::wait_for_result(const Access& a, uint32_t lanes, const uint64_t* at, bool shared) {
  const bool of_cluster = a.w.block->cluster->blocks.size() > 1;
  if (shared ? a.b.tokens.empty() && !of_cluster : !releases_.any()) return;
  WarpState& ws = a.ws;
  ws.waits_at = a.inst;
  ws.waits_for = lanes;
  ws.waits_in_shared = shared;
  each_active(lanes, [&](int i) { ws.waits_on[size_t(i)] = at[i]; });
}

void Checker::take_result(BlockState& b, WarpState& ws, const Warp& w) {
  ws.waits_at = nullptr;
  const uint32_t lanes = ws.waits_for;
  uint64_t done = ~0ull;
  each_active(lanes, [&](int i) {
    const uint64_t at = ws.waits_on[size_t(i)];
    if (at == done) return;
    done = at;
    if (ws.waits_in_shared) {
      if (w.block->cluster->blocks.size() > 1) acquire(b, ws, w.index, key_of(b, at));
      const auto told = b.tokens.find(uint32_t(at));
      if (told == b.tokens.end()) return;
      b.fine = true;
      learn(b, w.index, told->second);
      return;
    }
    acquire(b, ws, w.index, at);
  });
}

void Checker::acquire(BlockState& b, WarpState& ws, uint32_t warp, uint64_t at) {
  const ClockRef clock = releases_.acquire(at, b.launch->id);
  if (!clock || clock == ws.acquired) return;  // most warps that spin find nothing new
  ws.acquired = clock;
  for (const Known& k : clock->of(b.index)) {
    b.fine = true;
    uint32_t& tick = b.row(warp)[k.warp];
    tick = std::max({tick, k.tick, k.block_tick});
  }
  ws.clock = join(ws.clock, clock);
  ws.told = {};
}

}  // namespace ridge::vm::check
