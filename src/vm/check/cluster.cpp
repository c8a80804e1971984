// Blocks of a cluster: what orders them, and whether a block is there while others use its shared
// memory. remote.cpp compares those accesses.
//
// Where a peer lets threads go on through an mbarrier, everything that both blocks did before is
// taken to be ordered. So races may be missed here, but no false one is reported.
#include <bit>
#include <utility>

#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"
#include "vm/isa/internal.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

// Everything that a block has done before this interval, for threads of other blocks.
Known all_before(const BlockState& b) {
  return {.block = b.index, .interval = b.interval, .read_interval = b.interval};
}

uint32_t live_lanes_of(const Warp& w) { return w.present & ~w.exited; }

}  // namespace

BlockState* Checker::peer_of(const Warp& w, uint32_t address) {
  BlockState& b = state_of(*w.block);
  if (b.peers.empty()) {
    for (const auto& block : w.block->cluster->blocks) b.peers.push_back(&state_of(*block));
    state_of(*w.block);  // the one that is asked for next
  }
  const uint32_t rank = address >> kRankShift;
  return rank < b.peers.size() && rank != w.block->rank ? b.peers[rank] : nullptr;
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
  uint32_t bound = 0;  // the first segment behind the barrier
  for (const auto& block : cluster.blocks) {
    BlockState& b = state_of(*block);
    look_for_parts(b);
    begin_interval(b, clock, true);
    if (!bound) bound = b.bound;
    b.cluster_bound = bound;
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

// --- is the other block there? ---

// A thread uses the shared memory of `home`.
void Checker::visit(const Access& a, BlockState& home, uint32_t thread, bool reads) {
  const size_t warps = a.b.warps.size();
  if (home.visits.empty()) home.visits.resize(a.w.block->cluster->blocks.size() * warps);
  home.visits[a.w.block->rank * warps + a.w.index] = {a.s.id, thread, a.segment, reads};
  if (home.exit_site)
    report_leaves_early(home, home.visits[a.w.block->rank * warps + a.w.index]);
  else if (!a.b.start_told && !(a.ws.clock && a.ws.clock->knows(home.index)))
    report_not_started(a, home, thread);
}

// Lanes leave the kernel. With the last of them the block's shared memory is gone, so that all who
// used it must be done, as far as somebody of the block knows.
void Checker::on_leave(const Access& a) {
  const Block& block = *a.w.block;
  const bool guarded = a.inst->full != internal::kExit.full;
  const uint32_t lanes = guarded ? a.w.pred(a.inst->d) & a.w.mask : a.w.mask;
  if (block.exited_threads + uint32_t(std::popcount(lanes)) < block.warps.size() * kWarpSize)
    return;
  a.b.exit_site = a.s.id;
  if (a.b.visits.empty()) return;
  ClockRef clock;
  for (const WarpState& ws : a.b.warps) clock = join(clock, ws.clock);
  for (const Visit& visit : a.b.visits) {
    if (!visit.site) continue;
    const Segment& then = segments_[visit.segment];
    if (!clock || !clock->covers(then.block, then.warp, then.interval, then.tick, visit.reads))
      report_leaves_early(a.b, visit);
  }
}

namespace {

const char* const kSync = "cluster.sync() (barrier.cluster.arrive and barrier.cluster.wait)";

}  // namespace

void Checker::report_not_started(const Access& a, const BlockState& home, uint32_t thread) {
  a.b.start_told = true;  // one barrier is missing
  if (!findings_.is_new("cluster", 0, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "cluster";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.second = {a.s.id, verb_of(a.s.act, a.s.act != Act::load),
              thread_text(*grid.launch, thread, a.b.index)};
  f.what = say("the shared memory of ", block_text(grid.launch->grid, home.index),
               " is used before that block is known to have started");
  f.fix =
      say("let all threads of the cluster pass ", kSync, " before ", place(sites_.info(a.s.id)));
  add_with_callers(f);
}

void Checker::report_leaves_early(const BlockState& home, const Visit& visit) {
  if (!findings_.is_new("cluster", visit.site, home.exit_site)) return;
  const GridRun& grid = *home.launch->grid;
  const SiteInfo used = sites_.info(visit.site);
  Finding f;
  f.kind = "cluster";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.first = {visit.site, verb_of(used.act, !visit.reads),
             thread_text(*grid.launch, visit.thread, segments_[visit.segment].block)};
  f.second = {home.exit_site, "exit", block_text(grid.launch->grid, home.index)};
  f.what =
      "a block may leave the kernel while another block of its cluster still uses its shared "
      "memory: nothing orders the two";
  f.fix = say("let all threads of the cluster pass ", kSync, " between ", place(used),
              " and the end of the kernel");
  add_with_callers(f);
}

// --- the barrier of the cluster ---

void Checker::on_cluster_barrier(const Access& a) {
  WarpState& ws = a.ws;
  const uint32_t lanes = a.w.mask;
  if (a.s.act == Act::cluster_wait) {
    if (lanes & ~ws.cluster_arrived) report_cluster_barrier(a, lanes & ~ws.cluster_arrived, 0);
    ws.cluster_arrived &= ~lanes;
    return;
  }
  if (lanes & ws.cluster_arrived)
    report_cluster_barrier(a, lanes & ws.cluster_arrived, ws.cluster_site);
  ws.cluster_arrived |= lanes;
  ws.cluster_ever |= lanes;
  ws.cluster_site = a.s.id;
  if (a.s.aligned && lanes != live_lanes_of(a.w)) {
    WarpState::Waiting& part = ws.cluster_part;
    if (!part.site) part = {a.s.id, 0, lanes, live_lanes_of(a.w)};
    part.missing &= ~lanes;
    if (!part.missing) part = {};
  }
  for (const auto& block : a.w.block->cluster->blocks) {
    BlockState& peer = state_of(*block);
    if (peer.skipped.site) report_skipped(a.b, a.s.id, a.base, peer);
  }
}

// Lanes execute what stands behind every barrier of the cluster.
void Checker::on_behind(const Access& a) {
  const uint32_t lanes = a.w.mask & ~a.ws.cluster_ever;
  if (!lanes || a.b.skipped.site) return;
  a.b.skipped = {a.s.id, a.base + uint32_t(std::countr_zero(lanes)), 0, false};
  for (const auto& block : a.w.block->cluster->blocks) {
    BlockState& peer = state_of(*block);
    for (uint32_t w = 0; w < peer.warps.size(); ++w)
      if (peer.warps[w].cluster_site)
        return report_skipped(peer, peer.warps[w].cluster_site, w * kWarpSize, a.b);
  }
}

void Checker::look_for_parts(BlockState& b) {
  for (uint32_t w = 0; w < b.warps.size(); ++w)
    if (WarpState& ws = b.warps[w]; ws.cluster_part.site) {
      ws.waiting = std::exchange(ws.cluster_part, {});
      report_part_of_warp(b, w);
    }
}

void Checker::report_cluster_barrier(const Access& a, uint32_t lanes, uint32_t before) {
  if (!findings_.is_new("cluster", before, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const std::string who =
      thread_text(*grid.launch, a.base + uint32_t(std::countr_zero(lanes)), a.b.index);
  Finding f;
  f.kind = "cluster";
  f.kernel = kernel_name(grid);
  if (before) f.first = {before, "arrival", who};
  f.second = {a.s.id, before ? "next arrival" : "wait", who};
  f.what = before ? "a thread arrives at the barrier of the cluster again without having waited, "
                    "which has no defined effect"
                  : "a thread waits for the barrier of the cluster without having arrived, which "
                    "has no defined effect";
  f.fix = before ? say("put barrier.cluster.wait between ", place(sites_.info(before)), " and ",
                       place(sites_.info(a.s.id)))
                 : say("put barrier.cluster.arrive before ", place(sites_.info(a.s.id)),
                       ", for every thread that waits");
  findings_.add(f);
}

void Checker::report_skipped(const BlockState& b, uint32_t barrier, uint32_t thread,
                             BlockState& peer) {
  const Visit skipped = peer.skipped;
  if (!findings_.is_new("cluster", barrier, skipped.site)) return;
  const GridRun& grid = *b.launch->grid;
  Finding f;
  f.kind = "cluster";
  f.kernel = kernel_name(grid);
  f.first = {barrier, "barrier of the cluster", thread_text(*grid.launch, thread, b.index)};
  f.second = {skipped.site, "access behind it",
              thread_text(*grid.launch, skipped.thread, peer.index)};
  f.what =
      "some threads skip a barrier of the cluster and go on: the others wait until these threads "
      "have left the kernel, and nothing orders the two";
  f.fix = "take the barrier out of the branch or loop, so that all threads of the cluster reach it";
  findings_.add(f);
}

}  // namespace ridge::vm::check
