// Two ways to shared memory: threads go the generic one, bulk copies and wgmma the asynchronous one
// (PTX calls them proxies). What a thread has written is there for the other way only behind a
// fence.proxy.async. The fence may stand anywhere between the write and the read: mostly it is the
// writer's, before the barrier; the reader's own, behind the barrier, does as well.
#include "vm/check/checker.h"
#include "vm/check/knowledge.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

bool is_fenced(BlockState& b, uint32_t warp, const Segment& write) {
  if (!has_fence_columns(b) || b.known.empty()) return false;
  const uint32_t* row = b.row(warp);
  return row[fenced_interval_column(b)] > write.interval ||
         row[fenced_column(b, write.warp)] > write.tick;
}

}  // namespace

// All that the warp knows of is fenced from now on.
void Checker::on_proxy_fence(const Access& a) {
  if (a.s.space == Space::global) return;
  BlockState& b = a.b;
  if (!has_fence_columns(b)) add_columns(b, 0);
  const uint32_t tick = next_tick(a.ws);
  uint32_t* row = b.row(a.w.index);
  for (uint32_t v = 0; v < b.warps.size(); ++v) {
    uint32_t& fenced = row[fenced_column(b, v)];
    fenced = std::max(fenced, v == a.w.index ? tick : row[v]);
  }
  row[fenced_interval_column(b)] = b.interval;
}

void Checker::async_proxy_reads(const Access& a, uint32_t thread, uint32_t begin, uint32_t bytes) {
  BlockState& b = a.b;
  uint32_t fine = 0;  // segment: what was written then is in order
  for (uint32_t at = begin / 4; at < (begin + bytes + 3) / 4; ++at) {
    const Record write{b.cells[at].write};
    const Word word{thread, 15, at * 4ull, 0, true};
    const bool of_block = write.segment() >= b.first;
    if ((b.written[at] | (of_block ? write.bytes() : 0)) != 15) report_empty(a, word);
    if (!of_block || (write.segment() == fine && fine)) continue;
    const bool by_copy = write.flags() & Record::kInFlight;
    if (write.segment() >= b.bound && (by_copy || write.thread() != thread) &&
        (write.segment() == Record::kNotOver ||
         !ordered(a, segments_[write.segment()], write.thread(), word, false))) {
      report_conflict(a, word, write, true, false, false);
      continue;
    }
    const Segment& then = segments_[write.segment()];
    if (!by_copy && !is_fenced(b, a.w.index, then)) report_unfenced(a, word, write);
    else if (write.segment() < b.bound || then.warp != a.w.index) fine = write.segment();
  }
}

}  // namespace ridge::vm::check
