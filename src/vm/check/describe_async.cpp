// Words for what goes wrong with bulk copies and mbarriers.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"

namespace ridge::vm::check {
namespace {

constexpr const char* kRightParity =
    "wait with the parity of the phase: the first use of an mbarrier has parity 0, the second 1, "
    "the third 0 again; for use k of a ring of stages (k / stages) & 1";

const BulkLoad* load_over(const BlockState& b, uint32_t offset, Record record) {
  for (const BulkLoad& load : b.loads)
    if (load.by.site == record.site() && load.by.thread == record.thread() &&
        load.box.holds(offset))
      return &load;
  return nullptr;
}

}  // namespace

// What waits and copies is often a small function: where it was called says more.
void Checker::add_with_callers(Finding& f) {
  for (const Party* party : {&f.first, &f.second}) {
    const SiteInfo info = sites_.info(party->site);
    if (party->site && info.calls.size() > 1)
      f.notes.push_back(say(place(info), " is called from line ", info.calls[0].line));
  }
  findings_.add(f);
}

// An access and a bulk load of the same place, in either order.
void Checker::report_load(const Access& a, const Word& word, Record other, bool other_writes,
                          bool writes, bool several) {
  if (!findings_.is_new("async", other.site(), a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo before = sites_.info(other.site()), now = sites_.info(a.s.id);
  const bool under_way = other.segment() == Record::kNotOver;
  const BulkLoad* load = under_way ? load_over(a.b, uint32_t(word.address), other) : nullptr;
  Finding f;
  f.kind = "async";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  f.first = {other.site(), verb_of(before.act, other_writes),
             several
                 ? "another thread of the block"
                 : thread_text(*grid.launch, other.thread(), load ? load->by.block : a.b.index)};
  f.second = {a.s.id, verb_of(now.act, writes), thread_text(*grid.launch, word.thread, a.b.index)};
  const char* done = writes ? "written" : "read";
  if (other.flags() == Record::kDisputed && other_writes && !writes) {
    f.what =
        "what is read was brought by two bulk copies at the same time: the second one started "
        "before the first one had completed";
    f.fix = say("before ", place(before),
                " starts another copy to the same memory, wait for the "
                "mbarrier of the copy before it, and until all have read what it brought");
  } else if (a.s.act == Act::bulk_copy && !(other_writes && other.flags() & Record::kInFlight)) {
    describe_start(a, other, other_writes, f);
  } else if (load) {
    describe_early(a, *load, done, f);
  } else {  // it has landed, because somebody else has waited
    f.what =
        say("the destination of a bulk copy is ", done,
            " by a thread that has not waited for the copy, nor is ordered behind one that has");
    f.fix = say("wait for the mbarrier of the copy before ", place(now),
                ", or put __syncthreads() between the wait of the other thread and ", place(now));
  }
  add_with_callers(f);
}

// The copy comes second: somebody may not be done with what it overwrites.
void Checker::describe_start(const Access& a, Record other, bool other_writes, Finding& f) {
  const SiteInfo before = sites_.info(other.site()), now = sites_.info(a.s.id);
  const Segment& then = segments_[other.segment()];
  f.what = say("a bulk copy starts to overwrite what another thread may still ",
               other_writes ? "write" : "read");
  f.fix = say("order ", place(now), " behind ", place(before),
              ": __syncthreads(), or an mbarrier at which all who use the memory arrive and for "
              "which the thread that copies waits");
  if (then.block != a.b.index || then.warp >= a.b.warps.size()) return;
  const Mbarrier& m = a.b.mbarriers[a.b.starting];
  const Mbarrier::Waited& waited = m.waited[then.warp];
  const WarpState::Arrived* arrived = a.b.warps[then.warp].arrived_before(then.tick);
  const bool fresh = waited.site && m.phase == m.first_phase;
  if (waited.again || fresh) {
    f.notes.push_back(say(
        "before that the thread waited (", place(sites_.info(waited.site)), ") for a phase that ",
        fresh ? "comes before the first and counts as over" : "it had waited for already",
        ": the wait returned at once"));
    f.fix = kRightParity;
  } else if (arrived && !a.b.known.empty() && a.b.row(a.w.index)[then.warp] >= arrived->tick) {
    f.notes.push_back(say("the thread arrives at an mbarrier (", place(sites_.info(arrived->site)),
                          ") before it ", other_writes ? "writes" : "reads", " (", place(before),
                          "): it releases the memory too early"));
    f.fix = say("arrive at the mbarrier behind ", place(before),
                ": that tells the thread which copies that the memory is free");
  }
}

// The copy comes first, and has not landed.
void Checker::describe_early(const Access& a, const BulkLoad& load, const char* done, Finding& f) {
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo before = sites_.info(load.by.site), now = sites_.info(a.s.id);
  const Mbarrier& m = a.b.mbarriers[load.barrier];
  const Mbarrier::Waited& waited = m.waited[a.w.index];
  const WarpState::Arrived* arrived = a.ws.arrived_before(a.ws.tick);
  const uint32_t phase = load.phase - m.first_phase, parity = phase & 1;
  f.what = say("the destination of a bulk copy is ", done, " before the copy has completed");
  f.notes.push_back(say("the copy ends with phase ", phase, " (parity ", parity,
                        ") of the mbarrier ", shared_name(grid, load.barrier)));
  if (waited.site && waited.event > load.event) {
    f.notes.push_back(say("the wait of ", place(sites_.info(waited.site)),
                          " returned at once: it asked for parity ", parity ^ 1,
                          phase ? ", that of the phase before, which was over"
                                : ", that of the phase before the first, which counts as over"));
    f.fix = kRightParity;
  } else if (waited.site && arrived && arrived->event > waited.event) {
    f.notes.push_back(say("the thread arrived at an mbarrier (", place(sites_.info(arrived->site)),
                          ") before ", place(now),
                          ", and so let the copy overwrite what it had not ", done, " yet"));
    f.fix = say("arrive at the mbarrier behind ", place(now),
                ": that tells the thread which copies that the memory is free");
  } else if (waited.site) {
    f.notes.push_back(say("the thread has only waited for the phase before (",
                          place(sites_.info(waited.site)), ")"));
    f.fix = say("wait for the mbarrier again before ", place(now), "; and let the copy of ",
                place(before), " start when all are done with the memory");
  } else {
    f.fix = say("wait for the mbarrier (mbarrier.try_wait.parity in a loop) before ", place(now));
  }
}

void Checker::report_overwritten(const Access& a, const BulkRead& read, uint32_t offset,
                                 uint32_t thread) {
  // The lines that fill a buffer are many, and one wait is missing.
  if (!findings_.is_new("async", read.by.site, 0)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo store = sites_.info(read.by.site), now = sites_.info(a.s.id);
  Finding f;
  f.kind = "async";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.any_second = true;
  f.first = {read.by.site, verb_of(store.act, false),
             thread_text(*grid.launch, read.by.thread, read.by.block)};
  f.second = {a.s.id, verb_of(now.act, true), thread_text(*grid.launch, thread, a.b.index)};
  f.address = offset;
  f.bytes = 4;
  f.memory = shared_name(grid, offset);
  if (read.is_over) {
    f.what =
        "the source of a bulk store is overwritten by a thread that is not ordered behind the wait "
        "for the store";
    f.fix = say("put __syncthreads() between cp.async.bulk.wait_group.read and ", place(now));
  } else {
    f.what = "the source of a bulk store is overwritten before the store has read it";
    const WarpState& theirs = a.b.warps[read.by.thread / kWarpSize];
    if (theirs.bulk_wait_site && theirs.bulk_wait_newest)
      f.notes.push_back(say("the wait of ", place(sites_.info(theirs.bulk_wait_site)),
                            " leaves up to ", theirs.bulk_wait_newest,
                            " groups of stores under way"));
    f.fix = say("let the thread of ", place(store),
                " wait (cp.async.bulk.commit_group, then cp.async.bulk.wait_group.read 0) and "
                "synchronise before ",
                place(now));
  }
  add_with_callers(f);
}

void Checker::report_not_written(const Access& a, const BulkWrite& write, const Word& word,
                                 bool reads) {
  if (!findings_.is_new("async", write.by.site, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo store = sites_.info(write.by.site), now = sites_.info(a.s.id);
  Finding f;
  f.kind = "async";
  f.space = "global";
  f.kernel = kernel_name(grid);
  f.first = {write.by.site, verb_of(store.act, true),
             thread_text(*grid.launch, write.by.thread, write.by.block)};
  f.second = {a.s.id, verb_of(now.act, !reads), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = 4;
  f.memory = memory_name(a, word);
  f.what = say("global memory is ", reads ? "read" : "written",
               " before the bulk store to it was waited for: it may not have been written yet");
  if (const uint32_t wait = a.b.warps[write.by.thread / kWarpSize].bulk_wait_site)
    f.notes.push_back(say("the wait of ", place(sites_.info(wait)),
                          " does not cover that: cp.async.bulk.wait_group.read waits until the "
                          "source has been read, and a number leaves as many groups under way"));
  f.fix = say("let the thread of ", place(store),
              " wait for the writes (cp.async.bulk.commit_group, then cp.async.bulk.wait_group 0 "
              "without .read) and synchronise before ",
              place(now));
  add_with_callers(f);
}

void Checker::report_unfenced(const Access& a, const Word& word, Record write) {
  const SiteInfo before = sites_.info(write.site()), now = sites_.info(a.s.id);
  if (before.act == Act::copy) return;  // cp.async: which way it goes is not said
  if (!findings_.is_new("proxy-fence", 0, a.s.id)) return;  // one fence for all that is written
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "proxy-fence";
  f.any_first = true;
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.first = {write.site(), verb_of(before.act, true),
             thread_text(*grid.launch, write.thread(), a.b.index)};
  f.second = {a.s.id, verb_of(now.act, false), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = 4;
  f.memory = memory_name(a, word);
  f.what =
      say("the asynchronous proxy reads what a thread has written, without a fence.proxy.async "
          "between: "
          "it may see the old value");
  f.fix = say("put asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\") after ",
              place(before), " and all other writes, before the barrier that orders them with ",
              place(now));
  add_with_callers(f);
}

void Checker::report_initialisation(const Access& a, const Mbarrier& m, uint32_t offset,
                                    uint32_t thread, bool of_peer) {
  const uint32_t init =
      m.init.site ? m.init.site : sites_.first_of(*a.w.frame->code, Act::token_init);
  if (!findings_.is_new("mbarrier", init, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "mbarrier";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  if (init)
    f.first = {init, "initialisation",
               m.init.site ? thread_text(*grid.launch, m.init.thread, m.init.block) : "nobody yet"};
  f.second = {a.s.id, "use", thread_text(*grid.launch, thread, a.b.index)};
  f.address = offset;
  f.bytes = 8;
  f.memory = shared_name(grid, offset);
  f.what = m.init.site ? "an mbarrier is used by a thread that is not ordered behind its "
                         "initialisation"
                       : "an mbarrier is used before it has been initialised";
  f.fix = of_peer
              ? "put fence.mbarrier_init.release.cluster behind mbarrier.init, and a barrier of "
                "the cluster (cluster.sync()) before other blocks use it"
              : "put __syncthreads() between mbarrier.init and the first use; for copies and "
                "other blocks, fence.mbarrier_init.release.cluster before it";
  add_with_callers(f);
}

// A phase is over, and a copy that was to end with it is still under way.
void Checker::report_short_phase(BlockState& b, const Mbarrier& m, uint32_t offset,
                                 const BulkLoad& load) {
  if (!findings_.is_new("mbarrier", m.armed.site, load.by.site)) return;
  const GridRun& grid = *b.launch->grid;
  uint64_t under_way = 0;
  for (const BulkLoad& one : b.loads)
    if (one.barrier == offset && one.phase <= m.phase)
      under_way += uint64_t(one.box.rows) * one.box.row_bytes;
  Finding f;
  f.kind = "mbarrier";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.first = {m.armed.site, "arrival", thread_text(*grid.launch, m.armed.thread, m.armed.block)};
  f.second = {load.by.site, "copy to", thread_text(*grid.launch, load.by.thread, load.by.block)};
  f.address = offset;
  f.bytes = 8;
  f.memory = shared_name(grid, offset);
  const uint32_t phase = m.phase - m.first_phase;
  f.what = say("phase ", phase,
               " of an mbarrier completes while a bulk copy that belongs to it is "
               "under way: ",
               m.delivered, " bytes were expected, and the copies bring ", m.delivered + under_way);
  f.fix = say("expect ", m.delivered + under_way, " bytes at ", place(sites_.info(m.armed.site)),
              " (mbarrier.arrive.expect_tx): the sum of all copies that signal the mbarrier in a "
              "phase");
  add_with_callers(f);
}

void Checker::report_reuse(BlockState& b, const Mbarrier& m, uint32_t offset, uint32_t warp) {
  const Mbarrier::Waited& waited = m.waited[warp];
  if (!findings_.is_new("mbarrier", waited.site, m.armed.site)) return;
  const GridRun& grid = *b.launch->grid;
  Finding f;
  f.kind = "mbarrier";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.first = {waited.site, "wait",
             thread_text(*grid.launch, warp * kWarpSize + waited.lane, b.index)};
  f.second = {m.armed.site, "arrival", thread_text(*grid.launch, m.armed.thread, m.armed.block)};
  f.address = offset;
  f.bytes = 8;
  f.memory = shared_name(grid, offset);
  const uint32_t phase = m.phase - m.first_phase;
  f.what = say("phase ", phase,
               " of an mbarrier completes, and nothing orders that behind a wait "
               "for phase ",
               phase - 1,
               ": who comes to the wait late finds both over, and waits "
               "for phase ",
               phase + 1);
  f.fix = say("let the thread of ", place(sites_.info(m.armed.site)),
              " wait until all have passed ", place(sites_.info(waited.site)),
              ": a second mbarrier at which they arrive behind it, or __syncthreads()");
  add_with_callers(f);
}

}  // namespace ridge::vm::check
