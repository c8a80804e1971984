// Words for what goes wrong with bulk copies and mbarriers.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"
#include "vm/isa/mbarrier.h"

namespace ridge::vm::check {
namespace {

// "the mbarrier 'full', byte 8 of 16".
std::string barrier_name(const GridRun& grid, uint32_t offset) {
  return "the mbarrier " + shared_name(grid, offset);
}

const BulkLoad* load_over(const BlockState& b, uint32_t offset, Record record) {
  for (const BulkLoad& load : b.loads)
    if (load.by.site == record.site() && load.by.thread == record.thread() &&
        load.box.holds(offset))
      return &load;
  return nullptr;
}

}  // namespace

// An access and a bulk load of the same place, in either order.
void Checker::report_load(const Access& a, const Word& word, Record other, bool other_writes,
                          bool writes, bool several) {
  if (!findings_.is_new("async", other.site(), a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo before = sites_.info(other.site()), now = sites_.info(a.s.id);
  const bool lands_later = other.segment() == Record::kNotOver;
  const Segment then = lands_later ? Segment{} : segments_[other.segment()];
  const auto offset = uint32_t(word.address);
  Finding f;
  f.kind = "async";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  const BulkLoad* load = lands_later ? load_over(a.b, offset, other) : nullptr;
  f.first = {other.site(), verb_of(before.act, other_writes),
             several
                 ? "another thread of the block"
                 : thread_text(*grid.launch, other.thread(), load ? load->by.block : a.b.index)};
  f.second = {a.s.id, verb_of(now.act, writes), thread_text(*grid.launch, word.thread, a.b.index)};
  const bool starts =
      a.s.act == Act::bulk_copy && !(other.flags() & Record::kInFlight && other_writes);
  if (starts) {
    // The copy is what comes second: somebody may not be done with what it overwrites.
    const WarpState& theirs = a.b.warps[then.warp < a.b.warps.size() ? then.warp : 0];
    const bool released = theirs.arrived.site && theirs.arrived.tick <= then.tick &&
                          !a.b.known.empty() &&
                          a.b.row(a.w.index)[then.warp] >= theirs.arrived.tick;
    f.what = say("a bulk copy starts to overwrite what another thread may still ",
                 other_writes ? "write" : "read");
    if (released)
      f.notes.push_back(say("the thread arrives at an mbarrier (",
                            place(sites_.info(theirs.arrived.site)), ") before it ",
                            other_writes ? "writes" : "reads", " (", place(before), ")"));
    f.fix = released ? say("arrive at the mbarrier behind ", place(before),
                           ": it tells the thread that copies that the memory is free")
                     : say("order ", place(now), " behind ", place(before),
                           ": __syncthreads(), or an mbarrier at which all who use the memory "
                           "arrive and for which the thread that copies waits");
    findings_.add(f);
    return;
  }
  const char* done = writes ? "written" : "read";
  if (!load) {  // it has landed, because somebody else has waited
    f.what =
        say("the destination of a bulk copy is ", done,
            " by a thread that has not waited for the copy, nor is ordered behind one that has");
    f.fix = say("wait for the mbarrier of the copy before ", place(now),
                ", or put __syncthreads() between the wait of the other thread and ", place(now));
    findings_.add(f);
    return;
  }
  const Mbarrier& m = a.b.mbarriers[load->barrier];
  const Mbarrier::Waited& waited = m.waited[a.w.index];
  const uint32_t phase = load->phase - m.first_phase;
  const std::string barrier = barrier_name(grid, load->barrier);
  f.what = say("the destination of a bulk copy is ", done, " before the copy has completed");
  f.notes.push_back(
      say("the copy ends with phase ", phase, " (parity ", phase & 1, ") of ", barrier));
  if (waited.site && waited.event > load->event) {
    const SiteInfo wait = sites_.info(waited.site);
    f.notes.push_back(say("the wait of ", place(wait), " returned at once: it asked for parity ",
                          (phase & 1) ^ 1,
                          phase ? ", that of the phase before, which was over"
                                : ", that of the phase before the first, which counts as over"));
    f.fix =
        say("wait with the parity of the phase: the first use of an mbarrier has parity 0, the "
            "second 1, the third 0 again; for use k of a ring of stages (k / stages) & 1");
  } else if (waited.site && a.ws.arrived.site && a.ws.arrived.event > waited.event) {
    f.notes.push_back(say("the thread arrived at an mbarrier (",
                          place(sites_.info(a.ws.arrived.site)), ") before ", place(now),
                          ", and so let the copy overwrite what it had not ", done, " yet"));
    f.fix = say("arrive at the mbarrier behind ", place(now),
                ": it tells the thread that copies that the memory is free");
  } else if (waited.site) {
    f.notes.push_back(say("the thread has waited for the phase before only (",
                          place(sites_.info(waited.site)), ")"));
    f.fix = say("wait for the mbarrier again before ", place(now), "; and let the copy of ",
                place(before), " start when all are done with the memory");
  } else {
    f.fix = say("wait for the mbarrier (mbarrier.try_wait.parity in a loop) before ", place(now));
  }
  findings_.add(f);
}

void Checker::report_overwritten(const Access& a, const BulkRead& read, uint32_t offset,
                                 uint32_t thread) {
  if (!findings_.is_new("async", read.by.site, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo store = sites_.info(read.by.site), now = sites_.info(a.s.id);
  Finding f;
  f.kind = "async";
  f.space = "shared";
  f.kernel = kernel_name(grid);
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
  findings_.add(f);
}

void Checker::report_unfenced(const Access& a, const Word& word, Record write) {
  const SiteInfo before = sites_.info(write.site()), now = sites_.info(a.s.id);
  if (before.act == Act::copy) return;  // cp.async: which way it goes is not said
  if (!findings_.is_new("proxy-fence", write.site(), a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "proxy-fence";
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
              place(before), ", before the barrier that orders it with ", place(now));
  findings_.add(f);
}

void Checker::report_initialisation(const Access& a, const Mbarrier& m, uint32_t offset,
                                    uint32_t thread) {
  const uint32_t init =
      m.init.site ? m.init.site : sites_.first_of(*a.w.frame->code, Act::token_init);
  if (!findings_.is_new("mbarrier", init, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "mbarrier";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  if (init)
    f.first = {
        init, "initialisation",
        m.init.site ? thread_text(*grid.launch, m.init.thread, m.init.block) : "not executed yet"};
  f.second = {a.s.id, "use", thread_text(*grid.launch, thread, a.b.index)};
  f.address = offset;
  f.bytes = 8;
  f.memory = shared_name(grid, offset);
  const bool remote = m.init.site && m.init.block != a.b.index;
  f.what = m.init.site ? "an mbarrier is used by a thread that is not ordered behind its "
                         "initialisation"
                       : "an mbarrier is used before it has been initialised";
  f.fix = remote ? "put fence.mbarrier_init.release.cluster behind mbarrier.init, and a barrier of "
                   "the cluster (cluster.sync()) before other blocks use it"
                 : "put __syncthreads() between mbarrier.init and the first use; for copies and "
                   "other blocks, fence.mbarrier_init.release.cluster before it";
  findings_.add(f);
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
  findings_.add(f);
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
  findings_.add(f);
}

}  // namespace ridge::vm::check
