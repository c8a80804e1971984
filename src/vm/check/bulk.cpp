// Bulk copies, of bytes and of boxes of tensors. A load goes on from its start until the phase of
// its mbarrier has completed: nobody may touch its destination meanwhile, and then only those who
// are ordered behind a wait for that phase. A store reads its source from its start until its
// thread has waited for that.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/check/knowledge.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

constexpr uint32_t kOffset = uint32_t(kWindowSize) - 1;  // of a shared address
constexpr size_t kMostReads = 32;

// The words of a box, as offsets in shared memory.
template <class Visit>
void each_word(const Box& box, Visit visit) {
  for (uint32_t row = 0; row < box.rows; ++row)
    for (uint32_t k = 0; k < box.row_bytes; k += 4)
      visit(swizzled(box.swizzle, box.begin + row * box.pitch + k));
}

bool is_of(const AsyncEntry& entry, int lane, const Warp& w, const Inst* inst, const Doer& by) {
  return inst == entry.inst && by.thread == w.index * kWarpSize + uint32_t(lane) &&
         by.block == uint32_t(w.block->index);
}

// st.async and red.async bring values of registers.
bool is_bulk(const AsyncEntry& entry) {
  return entry.kind != AsyncEntry::Kind::peer_store || entry.held.empty();
}

// Whether a lane before this one starts the same store: from the same place to the same place.
// CUTLASS lets whole warps do what one thread would do.
bool is_repeated(const AsyncEntry& entry, int lane) {
  const auto same = [&](int i, int k) {
    if (entry.shared[i] != entry.shared[k] || entry.size[i] != entry.size[k]) return false;
    if (entry.tensors.empty()) return entry.global[i] == entry.global[k];
    const TensorCopy &one = entry.tensors[size_t(i)], &other = entry.tensors[size_t(k)];
    return one.at == other.at && one.map.address == other.map.address;
  };
  for (uint32_t before = entry.lanes & ((1u << lane) - 1); before; before &= before - 1)
    if (same(__builtin_ctz(before), lane)) return true;
  return false;
}

bool is_under_way_at(const BlockState& b, uint32_t at) {
  return std::ranges::any_of(b.loads, [&](const BulkLoad& load) { return load.box.holds(at); });
}

}  // namespace

Box box_of(const AsyncEntry& entry, int lane, uint32_t offset) {
  if (entry.tensors.empty()) {
    const uint32_t bytes = entry.size[lane];
    return {offset, offset + bytes, bytes ? 1u : 0u, bytes, bytes, 0};
  }
  const TensorCopy& copy = entry.tensors[size_t(lane)];
  return {offset,         offset + uint32_t(copy.extent()), uint32_t(copy.rows), copy.pitch,
          copy.row_bytes, copy.map.swizzle_rows()};
}

void Checker::copy_starts(const Warp& w, const AsyncEntry& entry) {
  BlockState& b = state_of(*w.block);
  WarpState& ws = b.warps[w.index];
  const Site& s = site_of(b, *w.frame->code, entry.inst);
  each_active(entry.lanes, [&](int i) {
    const Access a{b, ws, w, entry.inst, s, segment_of(b, ws, w.index), w.index * kWarpSize};
    if (entry.kind != AsyncEntry::Kind::bulk_store) load_starts(a, entry, i);
    else if (!is_repeated(entry, i)) store_starts(a, entry, i);
  });
}

// --- to shared memory ---

void Checker::load_starts(const Access& a, const AsyncEntry& entry, int i) {
  const uint32_t thread = a.base + uint32_t(i), address = entry.shared[i];
  const uint32_t barrier = entry.barrier[i] & kOffset;
  const auto& blocks = a.w.block->cluster->blocks;
  const uint32_t rank = address >> kRankShift, barrier_rank = entry.barrier[i] >> kRankShift;
  BlockState& owner = state_of(*blocks[barrier_rank]);
  if (check_initialised(a, owner, barrier, thread))
    if (BlockState* peer = peer_of(a.w, address)) visit(a, *peer, thread, false);
  if (!is_bulk(entry)) return;
  read_source(a, entry, i);
  const Box box = box_of(entry, i, address & kOffset);
  if (!box.rows || rank != barrier_rank) return;
  BlockState& to = state_of(*blocks[rank]);
  if (&to == &a.b) {
    a.b.starting = barrier;
    check_reads_of_box(a, box, thread);
    const bool meets = std::ranges::any_of(a.b.loads, [&](const BulkLoad& load) {
      return load.box.begin < box.end && box.begin < load.box.end;
    });
    each_word(box, [&](uint32_t at) {
      const bool disputed = meets && is_under_way_at(a.b, at);
      write_shared(a, at / 4, 15, thread, 0, disputed ? Record::kDisputed : Record::kInFlight);
    });
    const std::pair where{box.begin, box.end};
    if (meets && !std::ranges::count(a.b.disputed, where)) a.b.disputed.push_back(where);
  } else {
    const Record mine = Record::of(Record::kNotOver, Record::kInFlight, 15, thread, a.s.id);
    each_word(box, [&](uint32_t at) { to.cells[at / 4] = {mine.bits, 0}; });
  }
  Mbarrier& m = mbarrier_at(to, barrier);
  const bool of_bytes = entry.kind == AsyncEntry::Kind::bulk_load && entry.tensors.empty();
  const uint64_t from = of_bytes ? entry.global[i] : 0;
  to.loads.push_back({entry.inst,
                      {a.s.id, thread, a.b.index},
                      box,
                      barrier,
                      m.phase,
                      ++to.events,
                      from,
                      of_bytes ? from + entry.size[i] : 0});
  // Whoever waits there is ordered behind its start.
  if (&to == &a.b) arrive_at(to, a.w.index, m);
  else arrive_at_peer(a.w, entry.barrier[i]);
}

void Checker::read_source(const Access& a, const AsyncEntry& entry, int i) {
  const uint32_t thread = a.base + uint32_t(i);
  if (entry.kind == AsyncEntry::Kind::peer_store) {
    async_proxy_reads(a, thread, uint32_t(entry.global[i]), entry.size[i]);
  } else if (entry.tensors.empty()) {
    touch_global(a, thread, entry.global[i], entry.global[i] + entry.size[i], false, 0);
  } else {
    each_row(entry.tensors[size_t(i)], [&](const TensorRow& row) {
      if (row.inside())
        touch_global(a, thread, row.global + row.first, row.global + row.last, false, 0);
      return true;
    });
  }
}

void Checker::load_lands(BlockState& b, const Warp& w, const AsyncEntry& entry, int i) {
  const uint32_t address = entry.shared[i], offset = address & kOffset;
  BlockState& to = state_of(*w.block->cluster->blocks[address >> kRankShift]);
  if (!is_bulk(entry)) {
    if (&to == &b) {
      for (uint32_t k = 0; k < entry.size[i]; k += 4) to.written[(offset + k) / 4] = 15;
    } else {
      sent_lands(w, to, entry, i);
      arrive_at_peer(w, entry.barrier[i]);
    }
  }
  BlockState& owner = state_of(*w.block->cluster->blocks[entry.barrier[i] >> kRankShift]);
  Mbarrier& m = mbarrier_at(owner, entry.barrier[i] & kOffset);
  m.delivered += entry.size[i];
  if (!is_bulk(entry)) return;
  const auto load = std::find_if(to.loads.begin(), to.loads.end(), [&](const BulkLoad& one) {
    return one.box.begin == offset && is_of(entry, i, w, one.inst, one.by);
  });
  const Box box = box_of(entry, i, offset);
  if (load == to.loads.end()) {
    each_word(box, [&](uint32_t at) { to.written[at / 4] = 15; });
    return;
  }
  const Record under_way =
      Record::of(Record::kNotOver, Record::kInFlight, 15, load->by.thread, load->by.site);
  const Record landed =
      Record::of(landed_segment(to, m), Record::kInFlight, 15, load->by.thread, load->by.site);
  each_word(box, [&](uint32_t at) {
    uint64_t& write = to.cells[at / 4].write;
    if (write == under_way.bits) write = landed.bits;
    to.written[at / 4] = 15;
  });
  to.loads.erase(load);
}

// Whether several copies have brought a word at the same time, and all of them have landed. Copies
// that only bring data into the L2 cache share one place that nobody reads.
bool Checker::is_left_over(const BlockState& b, Record write, uint64_t at) {
  return write.flags() == Record::kDisputed && !is_under_way_at(b, uint32_t(at));
}

// --- from shared memory ---

void Checker::store_starts(const Access& a, const AsyncEntry& entry, int i) {
  const uint32_t thread = a.base + uint32_t(i), offset = entry.shared[i];
  const uint32_t flags = a.s.strong ? Record::kStrong : 0;
  BulkWrite write{entry.inst, {a.s.id, thread, a.b.index}, offset, a.segment, {}};
  if (entry.tensors.empty()) {
    async_proxy_reads(a, thread, offset, entry.size[i]);
    touch_global(a, thread, entry.global[i], entry.global[i] + entry.size[i], true, flags);
    write.add(entry.global[i], entry.global[i] + entry.size[i]);
  } else {
    const TensorCopy& copy = entry.tensors[size_t(i)];
    // The last piece of 16 bytes may reach past the tensor's own.
    const int64_t past = (int64_t(copy.map.size[0]) - copy.at[0]) * copy.map.element_bytes();
    const uint32_t width =
        copy.map.interleave ? copy.row_bytes
                            : uint32_t(std::clamp<int64_t>((past + 3) / 4 * 4, 0, copy.row_bytes));
    each_row(copy, [&](const TensorRow& row) {
      if (!row.inside()) return true;
      for (uint32_t k = row.first / 16 * 16; k < std::min(row.last, width); k += 16)
        async_proxy_reads(a, thread, swizzled(copy.map.swizzle_rows(), row.shared + k),
                          std::min(16u, width - k));
      touch_global(a, thread, row.global + row.first, row.global + row.last, true, flags);
      write.add(row.global + row.first, row.global + row.last);
      return true;
    });
  }
  const Box box = box_of(entry, i, offset);
  if (!box.rows) return;
  if (a.b.writes.size() == kMostReads) a.b.writes.erase(a.b.writes.begin());
  a.b.writes.push_back(std::move(write));
  // A store from the same place takes the place of one that is over.
  std::vector<BulkRead>& reads = a.b.reads;
  const auto old = std::ranges::find_if(reads, [&](const BulkRead& one) {
    const bool same = one.by.thread == thread && one.box.begin == box.begin;
    return one.is_over && (same || reads.size() >= kMostReads);
  });
  if (old != reads.end()) reads.erase(old);
  reads.push_back({entry.inst, {a.s.id, thread, a.b.index}, box, false, {}});
}

void Checker::on_bulk_wait(const Access& a) {
  a.ws.bulk_wait_site = a.s.id;
  a.ws.bulk_wait_newest = a.w.src<uint32_t>(a.inst->a)[0];
}

void Checker::store_lands(BlockState& b, const Warp& w, const AsyncEntry& entry, int i) {
  const bool was_read = !entry.held.empty() && !entry.held[size_t(i)].empty();
  if (b.last_act == Act::bulk_wait && !was_read) copy_has_read(w, entry, 1u << i);
  const auto write = std::ranges::find_if(b.writes, [&](const BulkWrite& one) {
    return one.from == entry.shared[i] && is_of(entry, i, w, one.inst, one.by);
  });
  if (write != b.writes.end()) b.writes.erase(write);
}

// Whether threads that know of a bulk store use what it writes, and nobody has waited until it is
// written. Where nothing orders them behind its start, that is a race like any other.
void Checker::check_bulk_writes(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes,
                                bool reads) {
  each_active(lanes, [&](int i) {
    const Word word{a.base + uint32_t(i), 15, at[i] & ~3ull, 0, false};
    for (const BulkWrite& write : a.b.writes)
      if (write.holds(at[i], bytes) &&
          ordered(a, segments_[write.segment], write.by.thread, word, false))
        return report_not_written(a, write, word, reads);
  });
}

void Checker::copy_has_read(const Warp& w, const AsyncEntry& entry, uint32_t lanes) {
  BlockState& b = state_of(*w.block);
  each_active(lanes, [&](int i) {
    const auto read = std::ranges::find_if(b.reads, [&](const BulkRead& one) {
      return !one.is_over && one.box.begin == entry.shared[i] &&
             is_of(entry, i, w, one.inst, one.by);
    });
    if (read == b.reads.end()) return;
    read->is_over = true;
    read->over_at = segments_[segment_of(b, b.warps[w.index], w.index)];
  });
}

// A barrier of the whole block orders everybody behind them.
void Checker::forget_over(BlockState& b) {
  if (!b.reads.empty()) std::erase_if(b.reads, [](const BulkRead& one) { return one.is_over; });
}

// Whether these writes come before bulk stores have read what lies there.
void Checker::check_bulk_reads(const Access& a, uint32_t lanes, const uint64_t* at,
                               uint32_t bytes) {
  each_active(lanes, [&](int i) {
    for (const BulkRead& read : a.b.reads)
      for (uint64_t word = at[i] & ~3ull; word < at[i] + bytes; word += 4)
        if (read.box.holds(uint32_t(word)) && is_too_early(a, read, a.base + uint32_t(i)))
          return report_overwritten(a, read, uint32_t(word), a.base + uint32_t(i));
  });
}
void Checker::check_reads_of_box(const Access& a, const Box& box, uint32_t thread) {
  for (const BulkRead& read : a.b.reads)
    if (read.box.begin < box.end && box.begin < read.box.end && is_too_early(a, read, thread))
      return report_overwritten(a, read, std::max(read.box.begin, box.begin), thread);
}
bool Checker::is_too_early(const Access& a, const BulkRead& read, uint32_t thread) {
  return !read.is_over || !ordered(a, read.over_at, read.by.thread, {thread, 15, 0, 0, true}, true);
}

}  // namespace ridge::vm::check
