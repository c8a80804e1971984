// mbarriers: who arrives in a phase is ordered before those who wait for it; what bulk copies bring
// is there for those. Which phase is under way is followed, so that a wait that returns because an
// earlier phase is over orders nothing of the one under way.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/check/knowledge.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {

Mbarrier& Checker::mbarrier_at(BlockState& b, uint32_t offset) {
  const auto [found, fresh] = b.mbarriers.try_emplace(offset);
  Mbarrier& m = found->second;
  if (fresh) {
    add_columns(b, 1);
    m.column = b.columns - 1;
    m.waited.resize(b.warps.size());
  }
  return m;
}

void Checker::arrive_at(BlockState& b, uint32_t warp, Mbarrier& m) {
  add_to(m.arriving, b, warp, next_tick(b.warps[warp]));
  m.arriving_interval = b.interval;
}

// Copies are one more party, which does things in the phases of its mbarrier.
uint32_t Checker::landed_segment(BlockState& b, Mbarrier& m) {
  if (!m.landed_segment) {
    m.landed_segment = new_segment(b);
    segments_[m.landed_segment] = {b.launch->id, b.index, b.interval, m.column, m.phase, 0};
  }
  return m.landed_segment;
}

void Checker::on_token(const Access& a) {
  uint64_t done = ~0ull;
  each_active(a.w.mask, [&](int i) {
    const auto address = a.s.space == Space::shared
                             ? uint32_t(a.w.src<uint32_t>(a.inst->a)[i] + a.inst->b)
                             : uint32_t(a.w.src<uint64_t>(a.inst->a)[i] +
                                        uint64_t(int64_t(int32_t(a.inst->b))) - kSharedWindow);
    const uint32_t thread = a.base + uint32_t(i), offset = address - a.w.shared_start;
    if (offset == done) return;
    done = offset;
    if (offset >= kWindowSize) {
      if (a.s.act == Act::token_arrive) arrive_at_peer_of(a, address, thread);
      return;
    }
    if (offset + 8 > a.w.shared_size || offset % 8) return;  // it faults
    if (a.s.act == Act::token_init || a.s.act == Act::token_end)
      a.b.written[offset / 4] = a.b.written[offset / 4 + 1] = 15;
    if (a.s.act == Act::token_end) return;
    if (a.s.act == Act::token_init) return initialise(a, offset, thread);
    check_initialised(a, a.b, offset, thread);
    if (a.s.act == Act::token_wait) return;  // phase_asked follows
    Mbarrier& m = mbarrier_at(a.b, offset);
    m.armed = {a.s.id, thread, a.b.index};
    arrive_at(a.b, a.w.index, m);
    note_arrival(a);
  });
}

void Checker::initialise(const Access& a, uint32_t offset, uint32_t thread) {
  Mbarrier& m = mbarrier_at(a.b, offset);
  m.init = {a.s.id, thread, a.b.index};
  m.init_at = segments_[segment_of(a.b, a.ws, a.w.index)];
  m.first_phase = m.phase;
  m.armed = {};
  m.delivered = 0;
  m.arriving.clear();
  m.waited.assign(a.b.warps.size(), {});
}

void Checker::arrive_at_peer_of(const Access& a, uint32_t address, uint32_t thread) {
  if (BlockState* peer = peer_of(a.w, address)) {
    const uint32_t offset = address % uint32_t(kWindowSize);
    if (check_initialised(a, *peer, offset, thread)) visit(a, *peer, thread, false);
    mbarrier_at(*peer, offset).armed = {a.s.id, thread, a.b.index};
  }
  arrive_at_peer(a.w, address);
  note_arrival(a);
}

void Checker::note_arrival(const Access& a) {
  a.ws.arrivals[a.ws.arrival_count++ % a.ws.arrivals.size()] = {a.s.id, a.ws.tick, ++a.b.events};
}

// Whether whoever uses the barrier is ordered behind its initialisation.
bool Checker::check_initialised(const Access& a, BlockState& owner, uint32_t offset,
                                uint32_t thread) {
  const Mbarrier& m = mbarrier_at(owner, offset);
  const bool same = m.init.thread == thread && m.init.block == a.b.index;
  if (m.init.site &&
      (same || ordered(a, m.init_at, m.init.thread, {thread, 15, 0, 0, true}, false)))
    return true;
  report_initialisation(a, m, offset, thread, &owner != &a.b);
  return false;
}

void Checker::phase_completes(const Block& block, uint32_t offset) {
  BlockState& b = state_of(block);
  Mbarrier& m = mbarrier_at(b, offset);
  for (BulkLoad& load : b.loads)
    if (load.barrier == offset && load.phase <= m.phase) {
      report_short_phase(b, m, offset, load);
      load.phase = m.phase + 1;
    }
  check_waiters(b, m, offset);
  if (m.told.size() < b.columns) m.told.resize(b.columns, 0);
  for (size_t k = 0; k < m.arriving.size(); ++k) m.told[k] = std::max(m.told[k], m.arriving[k]);
  m.arriving.clear();
  m.peers_told = join(m.peers_told, std::exchange(m.peers_arriving, nullptr));
  m.told[m.column] = ++m.phase;
  m.delivered = 0;
  m.landed_segment = 0;
  ++b.events;
}

void Checker::note_wait(Mbarrier& m, BlockState& b, uint32_t warp, uint32_t lane, uint32_t site) {
  Mbarrier::Waited& waited = m.waited[warp];
  const bool again = waited.site && waited.phase == m.phase;
  if (!again) waited = {m.phase, site, lane, b.warps[warp].tick, b.interval};
  waited.site = site;
  waited.again = again;
  waited.event = ++b.events;
}

void Checker::phase_asked(const Warp& w, const Inst* inst, const uint32_t* barriers,
                          uint32_t over) {
  BlockState& b = state_of(*w.block);
  WarpState& ws = b.warps[w.index];
  const uint32_t site = site_of(b, *w.frame->code, inst).id;
  uint32_t done = ~0u;
  each_active(over, [&](int i) {
    const uint32_t offset = barriers[i] - w.shared_start;
    if (offset == done) return;
    done = offset;
    Mbarrier& m = mbarrier_at(b, offset);
    note_wait(m, b, w.index, uint32_t(i), site);
    if (m.peers_told) {
      ws.clock = join(ws.clock, m.peers_told);
      ws.told = {};
    }
    b.fine = true;
    learn(b, w.index, m.told);
  });
  if (!ws.asked) ws.asked = std::make_unique<std::array<WarpState::Asked, 32>>();
  each_active(w.mask, [&](int i) {
    WarpState::Asked& asked = (*ws.asked)[size_t(i)];
    if (over >> i & 1) asked.inst = nullptr;
    else asked = {inst, w.frame->code, site, barriers[i] - w.shared_start};
  });
}

// A warp that has waited for the last phase must have done so before this one completes:
// otherwise it may come too late, find this one over as well, and wait for the next.
void Checker::check_waiters(BlockState& b, Mbarrier& m, uint32_t offset) {
  const auto knows = [&](uint32_t warp) {
    const Mbarrier::Waited& waited = m.waited[warp];
    return m.arriving_interval > waited.interval ||
           (warp < m.arriving.size() && m.arriving[warp] > waited.tick);
  };
  for (uint32_t warp = 0; warp < b.warps.size(); ++warp) {
    const Mbarrier::Waited& waited = m.waited[warp];
    if (!waited.site || waited.phase != m.phase || m.phase == m.first_phase || knows(warp))
      continue;
    // Warps that multiply together come to each product together.
    bool together = false;
    for (uint32_t k = 0; k < Warpgroup::kWarps && !b.block->warpgroups.empty(); ++k) {
      const uint32_t other = warp / Warpgroup::kWarps * Warpgroup::kWarps + k;
      together |= other < b.warps.size() && m.waited[other].phase == m.phase && knows(other);
    }
    if (!together) report_reuse(b, m, offset, warp);
  }
}

}  // namespace ridge::vm::check
