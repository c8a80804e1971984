// Blocks of a cluster: what orders them, and what reaches a block's shared memory from outside.
//
// Accesses to a peer's shared memory are not compared with others; only the value that a store
// leaves there is noted. Where a peer lets threads go on through an mbarrier, everything that both
// blocks did before is taken to be ordered. So races may be missed here, but no false one is
// reported.
#include "vm/check/checker.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

// Everything that a block has done before this interval, for threads of other blocks.
Known all_before(const BlockState& b) {
  return {.block = b.index, .interval = b.interval, .read_interval = b.interval};
}

}  // namespace

BlockState* Checker::peer_of(const Warp& w, uint32_t address) {
  const auto& blocks = w.block->cluster->blocks;
  const uint32_t rank = address >> kRankShift;
  return rank < blocks.size() && rank != w.block->rank ? &state_of(*blocks[rank]) : nullptr;
}

// Which lanes' shared addresses, relative to the block's own, are a peer's; those become addresses.
Checker::Lanes Checker::split_by_rank(const Warp& w, uint32_t lanes, uint64_t* at) {
  Lanes split;
  each_active(lanes, [&](int i) {
    const bool own = at[i] < kWindowSize;
    (own ? split.shared : split.peer) |= 1u << i;
    if (!own) at[i] = uint32_t(at[i]) + w.shared_start;
  });
  return split;
}

void Checker::cluster_barrier_opens(const Cluster& cluster) {
  ClockRef clock;
  for (const auto& block : cluster.blocks)
    for (const WarpState& ws : state_of(*block).warps) clock = join(clock, ws.clock);
  for (const auto& block : cluster.blocks) {
    BlockState& b = state_of(*block);
    begin_interval(b, clock, true);
    if (cluster.blocks.size() > 1)
      clock = join(clock, std::make_shared<const Clock>(std::vector{all_before(b)}));
  }
  for (const auto& block : cluster.blocks)
    for (WarpState& ws : state_of(*block).warps) ws.clock = ws.fenced_clock = clock;
}

void Checker::reach_peer(const Warp& w, uint32_t address, uint32_t bytes) {
  BlockState* peer = peer_of(w, address);
  const uint64_t at = address % kWindowSize;
  if (!peer || at + bytes > w.shared_size) return;
  for (uint64_t byte = at; byte < at + bytes; ++byte)
    peer->written[byte / 4] |= uint8_t(1u << byte % 4);
}

void Checker::arrive_at_peer(const Warp& w, uint32_t address) {
  BlockState& b = state_of(*w.block);
  WarpState& ws = b.warps[w.index];
  ws.segment = 0;  // what it does from now on is not part of what it tells
  Known known = all_before(b);
  known.warp = w.index;
  known.tick = known.block_tick = ++ws.tick;
  const ClockRef clock = join(ws.clock, std::make_shared<const Clock>(std::vector{known}));
  BlockState* peer = peer_of(w, address);
  const uint32_t at = address % uint32_t(kWindowSize);
  if (!peer || at + 8 > w.shared_size) return;
  Mbarrier& m = mbarrier_at(*peer, at);
  m.peers_arriving = join(m.peers_arriving, clock);
  for (uint32_t v = 0; v < peer->warps.size(); ++v) arrive_at(*peer, v, m);
}

}  // namespace ridge::vm::check
