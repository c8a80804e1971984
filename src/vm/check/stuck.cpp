// Threads that wait for ever at an mbarrier. They spin, so that no scheduler can tell; but where
// all that is left of a cluster sits in loops that do nothing but ask for a phase, or at barriers,
// then nobody is left who could complete it.
#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"
#include "vm/check/wait_loop.h"
#include "vm/isa/mbarrier.h"

namespace ridge::vm::check {
namespace {

// Rounds in which nothing happens. A program may try a number of times and then do something else;
// if it does not count, there is nothing to wait for.
constexpr uint64_t kPatience = 32, kPatienceIfCounting = 4096;

}  // namespace

// Whether a fragment that can run is in a loop that its mbarrier has not ended in so many rounds.
bool Checker::spins_for_ever(const Fragment& f, const WarpState& ws, uint64_t rounds) {
  if (!ws.asked) return false;
  const WarpState::Asked& asked = (*ws.asked)[size_t(__builtin_ctz(f.mask))];
  for (uint32_t left = f.mask; left; left &= left - 1)
    if ((*ws.asked)[size_t(__builtin_ctz(left))].inst != asked.inst) return false;
  if (!asked.inst || f.frame->code != asked.code) return false;
  const Code& code = *asked.code;
  const Listing& listing = *sites_.of(code).listing;
  const auto index = [&](const Inst* inst) {
    return listing.index_of(code.meta[size_t(inst - code.insts.data())].source);
  };
  const uint32_t wait = index(asked.inst);
  if (wait == Listing::kNone) return false;
  const uint32_t at = index(f.pc);
  if (at == Listing::kNone) return false;
  const WaitLoop loop = wait_loop(listing, wait);
  return !loop.members.empty() && loop.members[at] &&
         (loop.endless || rounds >= kPatienceIfCounting);
}

std::optional<report::Finding> Checker::stuck(const Cluster& cluster) {
  uint64_t events = 0;
  for (const auto& block : cluster.blocks)
    if (!block->left) {
      const BlockState& b = state_of(*block);
      events += b.events + b.interval;
    }
  BlockState& first = state_of(*cluster.blocks[0]);
  if (events != first.seen_events) {
    first.seen_events = events;
    first.idle_rounds = 0;
  }
  if (++first.idle_rounds % kPatience) return std::nullopt;
  std::vector<Waiter> waiters;
  for (const auto& block : cluster.blocks) {
    if (block->left) continue;
    BlockState& b = state_of(*block);
    for (const Warp& w : block->warps)
      for (const Fragment& f : w.fragments) {
        if (f.state != Fragment::State::runnable && f.state != Fragment::State::asleep) continue;
        const WarpState& ws = b.warps[w.index];
        if (!spins_for_ever(f, ws, first.idle_rounds)) return std::nullopt;
        const auto lane = uint32_t(__builtin_ctz(f.mask));
        const WarpState::Asked& asked = (*ws.asked)[lane];
        waiters.push_back({&b, w.index, lane, asked.site, asked.barrier});
      }
  }
  if (waiters.empty()) return std::nullopt;
  return describe_stuck(waiters);
}

report::Finding Checker::describe_stuck(const std::vector<Waiter>& waiters) {
  // A barrier that lacks bytes says most.
  const Waiter* chosen = &waiters[0];
  for (const Waiter& one : waiters)
    if (mbarrier::state_at(one.b->block->warps[0].shared + one.barrier).tx) {
      chosen = &one;
      break;
    }
  const GridRun& grid = *chosen->b->launch->grid;
  Finding f;
  f.kind = "deadlock";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.address = chosen->barrier;
  f.memory = shared_name(grid, chosen->barrier);
  f.first = {chosen->site, "wait for an mbarrier",
             thread_text(*grid.launch, chosen->warp * kWarpSize + chosen->lane, chosen->b->index)};
  explain_stuck(*chosen, f);
  constexpr size_t kMost = 6;
  for (size_t k = 0; k < waiters.size() && k < kMost; ++k)
    if (const Waiter& one = waiters[k]; &one != chosen)
      f.notes.push_back(
          say(thread_text(*grid.launch, one.warp * kWarpSize + one.lane, one.b->index),
              " waits for the mbarrier ", shared_name(grid, one.barrier), ", ",
              place(sites_.info(one.site))));
  if (const SiteInfo info = sites_.info(chosen->site); info.calls.size() > 1)
    f.notes.push_back(say(place(info), " is called from line ", info.calls[0].line));
  return findings_.told(f);
}

// Why the phase does not complete.
void Checker::explain_stuck(const Waiter& waiter, Finding& f) {
  BlockState& b = *waiter.b;
  const GridRun& grid = *b.launch->grid;
  const Mbarrier& m = b.mbarriers[waiter.barrier];
  const mbarrier::State state = mbarrier::state_at(b.block->warps[0].shared + waiter.barrier);
  const uint32_t phase = m.phase - m.first_phase;
  const Party armed{m.armed.site, "arrival",
                    thread_text(*grid.launch, m.armed.thread, m.armed.block)};
  const std::string armed_at = m.armed.site ? place(sites_.info(m.armed.site)) : "";
  if (state.tx) {
    const int64_t expected = int64_t(m.delivered) + state.tx;
    f.what = say("phase ", phase, " of an mbarrier never completes: ", expected,
                 " bytes are expected, and the copies bring ", m.delivered,
                 "; hardware would hang here");
    if (m.armed.site) f.second = armed;
    f.fix = say("expect ", m.delivered, " bytes", m.armed.site ? " at " + armed_at : std::string(),
                " (mbarrier.arrive.expect_tx): the sum of all copies that signal the mbarrier in a "
                "phase, in bytes");
    return;
  }
  const Mbarrier::Waited& waited = m.waited[waiter.warp];
  const uint32_t seen = (waited.site ? waited.phase : m.first_phase) - m.first_phase;
  if (state.pending < state.expected || phase == 0 || seen == phase) {
    f.what =
        say("phase ", phase, " of an mbarrier never completes: ", state.expected - state.pending,
            " of ", state.expected,
            " arrivals came, and nobody is left who could bring the others; hardware would "
            "hang here");
    f.notes.push_back(say("the wait asks for parity ", state.parity, ", that of phase ", phase));
    f.fix =
        "initialise the mbarrier with as many arrivals as there are in each phase, and let all of "
        "them come; or wait for the phase that they complete";
    return;
  }
  // It has not waited for the phase that was completed last, and asks for the one behind it.
  if (phase - seen > 1) {
    f.kind = "mbarrier";
    f.what =
        say("the thread comes to wait for phase ", seen, " of an mbarrier when phase ", phase - 1,
            " is over as well: it waits for phase ", phase, " now, and hardware may hang here");
    if (m.armed.site) f.second = armed;
    f.fix = say("let the thread of ", armed_at, " wait until all have passed ",
                place(sites_.info(waiter.site)),
                ": a second mbarrier at which they arrive behind it, or __syncthreads()");
    return;
  }
  f.what =
      say("a wait names the wrong parity: it asks for parity ", state.parity, ", that of phase ",
          phase, ", at which nobody arrives any more; hardware would hang here");
  f.notes.push_back(say("phase ", phase - 1, ", with parity ", state.parity ^ 1, ", is over"));
  f.fix =
      "wait with the parity of the phase: the first use of an mbarrier has parity 0, the second 1, "
      "the third 0 again; for use k of a ring of stages (k / stages) & 1";
}

}  // namespace ridge::vm::check
