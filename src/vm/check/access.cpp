// Reads and writes: what a word's cell says of the ones before.
#include "vm/check/checker.h"
#include "vm/isa/fragment.h"
#include "vm/isa/memory.h"

namespace ridge::vm::check {
namespace {

// Whether the write before was the same thread's, not atomic, and nothing has ordered it since.
bool is_own_plain_write(Record before, Record now) {
  return before.segment() == now.segment() && before.thread() == now.thread() &&
         before.bytes() == now.bytes() && !(before.flags() & Record::kStrong);
}

// Whether all lanes stay in the __shared__ array that they were given (bounds.cpp).
bool in_array(const Site& s, const uint32_t* at, uint32_t offset) {
  bool inside = true;
  for (int i = 0; i < kWarpSize; ++i)
    inside &= at[i] + offset - s.array_begin <= s.array_end - s.array_begin - s.bytes;
  return inside;
}

// Options of wmma's loads and stores (src/vm/isa/wmma.cpp).
constexpr uint32_t kRole = 3, kByColumn = 4, kStrided = 8, kInShared = 16;

}  // namespace

// The commonest access of all: each lane a word of its own. False where it is more than that.
bool Checker::on_rows(const Access& a) {
  const bool store = a.s.act == Act::store;
  if (a.s.space != Space::shared || a.w.mask != kAllLanes || a.s.bytes != 4 || a.s.strong ||
      (a.s.act != Act::load && !store) || !a.b.remote.empty())
    return false;
  const uint32_t* at = a.w.src<uint32_t>(a.inst->a);
  if (a.s.array && !in_array(a.s, at, a.inst->b - a.w.shared_start)) return false;
  if (store && !a.b.reads.empty()) return false;
  if (store) a.ws.fenced_now = false;
  return store ? write_whole_words(whole_words(a, 0), at) : read_whole_words(whole_words(a, 0), at);
}

// Where each lane goes: in shared memory, the offset there; in a peer's, the address.
Checker::Lanes Checker::addresses_of(const Access& a, uint64_t* at) {
  const Warp& w = a.w;
  const int64_t offset = int32_t(a.inst->b);
  if (a.s.space == Space::shared) {
    const uint32_t* base = w.src<uint32_t>(a.inst->a);
    for (int i = 0; i < kWarpSize; ++i)
      at[i] = uint32_t(base[i] + uint32_t(offset) - w.shared_start);
    if (w.block->cluster->blocks.size() == 1) return {.shared = w.mask};
    return split_by_rank(w, w.mask, at);
  }
  const uint64_t* base = w.src<uint64_t>(a.inst->a);
  for (int i = 0; i < kWarpSize; ++i) at[i] = base[i] + uint64_t(offset);
  if (a.s.space == Space::global) return {.global = w.mask};
  Lanes lanes;
  each_active(w.mask, [&](int i) {
    const uint64_t window = at[i] - kSharedWindow;
    if (window >> 32 >= 3) {
      lanes.global |= 1u << i;
    } else if (window < kSharedWindowSize) {
      lanes.shared |= 1u << i;
      at[i] = uint32_t(window) - w.shared_start;
    }
  });
  const Lanes split = split_by_rank(w, lanes.shared, at);
  return {.shared = split.shared, .global = lanes.global, .peer = split.peer};
}

void Checker::on_memory(const Access& a) {
  if (on_rows(a)) return;
  uint64_t at[kWarpSize];
  const Lanes lanes = addresses_of(a, at);
  if (lanes.shared && a.s.array) check_array(a, lanes.shared, at);
  if (lanes.shared && a.s.is_volatile && a.s.strong && a.s.act != Act::atomic) {
    // volatile promises nothing to the other threads of the block, whatever the pointer's kind.
    Site weak = a.s;
    weak.strong = false;
    on_shared({a.b, a.ws, a.w, a.inst, weak, a.segment, a.base}, lanes.shared, at, a.s.bytes);
  } else if (lanes.shared) {
    on_shared(a, lanes.shared, at, a.s.bytes);
  }
  if (lanes.global) check_tensor(a, lanes.global, at, a.s.bytes);
  if (lanes.global) on_global(a, lanes.global, at, a.s.bytes);
  if (lanes.peer) on_peers(a, lanes.peer, at, a.s.bytes);
}

void Checker::on_matrix(const Access& a) {
  uint64_t at[kWarpSize];
  for (uint32_t i = 0; i < a.s.rows; ++i)
    at[i] =
        (a.s.space == Space::shared ? uint32_t(a.w.src<uint32_t>(a.inst->a)[i] + a.inst->b)
                                    : a.w.src<uint64_t>(a.inst->a)[i] +
                                          uint64_t(int64_t(int32_t(a.inst->b))) - kSharedWindow) -
        a.w.shared_start;
  const uint32_t lanes = a.s.rows == 32 ? kAllLanes : (1u << a.s.rows) - 1;
  if (a.w.mask == kAllLanes) on_shared(a, lanes, at, 16);  // it waits for the others otherwise
}

// The lines of a tile, each by a lane of its own.
void Checker::on_tile(const Access& a) {
  if (a.w.mask != kAllLanes) return;
  const TensorForm form = TensorForm::unpack(a.inst->d);
  const uint32_t role = form.option & kRole;
  const uint32_t rows = role == 1 ? form.k : form.m, columns = role == 0 ? form.k : form.n;
  const bool by_column = form.option & kByColumn;
  const uint32_t lines = by_column ? columns : rows, width = by_column ? rows : columns;
  const uint32_t bits = uint32_t(bits_of(form.a));
  uint32_t stride = width;
  if (form.option & kStrided) {  // the last operand
    const uint32_t* list = fragment_operands(a.inst);
    uint32_t count = (a.inst->c - 1) * 8;
    while (count && list[count - 1] == kNoOperand) --count;
    stride = a.w.src<uint32_t>(list[count - 1])[0];
  }
  const int64_t offset = int32_t(a.inst->b);
  uint64_t base = form.option & kInShared
                      ? uint32_t(a.w.src<uint32_t>(a.inst->a)[0] + uint32_t(offset))
                      : a.w.src<uint64_t>(a.inst->a)[0] + uint64_t(offset);
  const bool shared = form.option & kInShared || base - kSharedWindow < kSharedWindowSize;
  if (!(form.option & kInShared) && shared) base -= kSharedWindow;
  if (shared) base -= a.w.shared_start;
  uint64_t at[kWarpSize];
  const uint32_t bytes = width * bits / 8;
  for (uint32_t done = 0; done < bytes; done += 4) {
    for (uint32_t i = 0; i < lines && i < kWarpSize; ++i)
      at[i] = base + uint64_t(i) * stride * bits / 8 + done;
    const uint32_t lanes = lines >= 32 ? kAllLanes : (1u << lines) - 1;
    if (shared) on_shared(a, lanes, at, 4);
    else on_global(a, lanes, at, 4);
  }
}

void Checker::on_shared(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  const bool reads =
      a.s.act == Act::load || a.s.act == Act::load_matrix || a.s.act == Act::load_tile;
  if (!a.b.remote.empty()) [[unlikely]]
    compare_with_peers(a, lanes, at, bytes, !reads);
  if (reads) {
    if (bytes >= 4) read_shared_words(a, lanes, at, bytes / 4);
    else
      each_active(lanes, [&](int i) {
        if (at[i] + bytes <= a.w.shared_size)
          read_shared(a, at[i] / 4, mask_of(at[i], bytes), a.base + uint32_t(i), 0);
      });
    if (a.s.strong) wait_for_result(a, lanes, at, true);
    return;
  }
  if (!a.b.reads.empty()) check_bulk_reads(a, lanes, at, bytes);
  if (a.s.strong) release(a, lanes, at, true);
  else a.ws.fenced_now = false;
  if (a.s.strong && a.w.block->cluster->blocks.size() > 1) release_to_peers(a, lanes, at);
  const uint32_t flags = a.s.strong ? Record::kStrong : 0;
  const WholeWords whole = whole_words(a, flags);
  each_active(lanes, [&](int i) {
    if (at[i] + bytes > a.w.shared_size) return;  // it faults
    if (bytes == 16 && a.s.act == Act::store && write_whole_vector(whole, at[i], 4, i)) return;
    const uint32_t mask = mask_of(at[i], bytes), thread = a.base + uint32_t(i);
    uint64_t word = at[i] / 4;
    for (uint32_t part = 0; part * 4 < bytes; ++part, ++word)
      write_shared(a, word, mask, thread, part, flags);
  });
  if (a.s.strong && a.s.returns) wait_for_result(a, lanes, at, true);
}

WholeWords Checker::whole_words(const Access& a, uint32_t flags) {
  return {a.b.cells.data(),
          a.w.shared_size,
          a.b.first,
          a.b.bound,
          Record::of(a.segment, flags, 15, a.base, a.s.id).bits,
          a.inst->b - a.w.shared_start};
}

// Whole words: what most loads read, and what costs most. A lane that reads where the lane before
// it reads adds nothing but that it is there.
void Checker::read_shared_words(const Access& a, uint32_t lanes, const uint64_t* at,
                                uint32_t words) {
  const WholeWords whole = whole_words(a, a.s.strong);
  Cell* const cells = a.b.cells.data();
  const uint32_t bound = a.b.bound, first = a.b.first;
  const uint64_t template_bits = Record::of(a.segment, a.s.strong, 15, 0, a.s.id).bits;
  constexpr uint64_t kMany = uint64_t(Record::kMany) << 30;
  uint64_t before = ~0ull;
  bool told = false;  // by a lane between: that more than one lane reads there
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (told && at[i] == before) continue;
    told = false;
    if (at[i] + words * 4 > a.w.shared_size) continue;  // it faults
    const uint32_t thread = a.base + uint32_t(i);
    const uint64_t mine = template_bits | uint64_t(thread) << 16;
    Cell* cell = cells + at[i] / 4;
    if (at[i] == before) {
      bool plain = true;
      for (uint32_t k = 0; k < words; ++k) {
        plain &= uint32_t(cell[k].write >> 32) < bound;
        cell[k].read |= kMany;
      }
      told = plain;
      if (plain) continue;
    }
    before = at[i];
    if (words % 4 == 0 && read_whole_vector(whole, at[i], words, i)) continue;
    for (uint32_t k = 0; k < words; ++k, ++cell) {
      const Record write{cell->write}, read{cell->read};
      if (write.segment() - first >= bound - first || write.bytes() != 15) [[unlikely]] {
        // Written in this interval, or in parts, or never.
        read_shared(a, at[i] / 4 + k, 15, thread, k);
        continue;
      }
      const bool others =
          read.segment() >= bound && ((read.bits ^ mine) & (1023ull << 16) || (read.bits & kMany));
      cell->read = others ? mine | kMany : mine;
    }
  }
}

void Checker::read_shared(const Access& a, uint64_t at, uint32_t mask, uint32_t thread,
                          uint32_t part) {
  BlockState& b = a.b;
  Cell& cell = b.cells[at];
  const Record write{cell.write}, read{cell.read};
  if (write.segment() >= b.bound && (write.bytes() & mask) &&
      (write.flags() & Record::kInFlight ||
       (write.thread() != thread && !(a.s.strong && write.flags() & Record::kStrong))))
    report_conflict(a, {thread, mask, at * 4, part, true}, write, true, false, false);
  const uint32_t have = b.written[at] | (write.segment() < b.first ? 0 : write.bytes());
  if ((have & mask) != mask) report_empty(a, {thread, mask, at * 4, part, true});
  Record mine = Record::of(a.segment, a.s.strong, mask, thread, a.s.id);
  if (read.segment() >= b.bound && (read.bytes() & mask) &&
      (read.thread() != thread || (read.flags() & Record::kMany)))
    mine = mine.with(Record::kMany);
  cell.read = mine.bits;
}

void Checker::write_shared(const Access& a, uint64_t at, uint32_t mask, uint32_t thread,
                           uint32_t part, uint32_t flags) {
  BlockState& b = a.b;
  Cell& cell = b.cells[at];
  const Record write{cell.write}, read{cell.read};
  const Word word{thread, mask, at * 4, part, true};
  const bool strong = flags == Record::kStrong;
  bool races = false;
  if (write.segment() >= b.bound && (write.bytes() & mask)) [[unlikely]] {
    const bool by_copy = write.flags() & Record::kInFlight;
    if (by_copy ? flags != Record::kDisputed && !is_left_over(b, write, at * 4)
                : write.thread() != thread && !(strong && write.flags() & Record::kStrong))
      races = report_conflict(a, word, write, true, true, false);
  }
  if (read.segment() >= b.bound && (read.bytes() & mask) &&
      !(strong && read.flags() & Record::kStrong)) [[unlikely]] {
    if (read.thread() != thread || read.segment() == Record::kNotOver)
      report_conflict(a, word, read, false, true, false);
    else if ((read.flags() & Record::kMany) && !b.fine)
      report_conflict(a, word, read, false, true, true);
  }
  const uint32_t have = b.written[at] | (write.segment() < b.first ? 0 : write.bytes());
  if (a.s.act == Act::atomic && !a.s.blind && (have & mask) != mask) report_empty(a, word);
  if (mask != 15) b.written[at] |= uint8_t(mask | have);
  const uint32_t segment = flags & Record::kInFlight ? Record::kNotOver : a.segment;
  Record mine = Record::of(segment, flags, mask, thread, a.s.id);
  // A plain write that nothing has ordered yet: other atomics race with it, too.
  if (strong && (races || is_own_plain_write(write, mine))) mine = write;
  cell = {mine.bits, 0};
}

Range* Checker::range_of(const Access& a, uint64_t address) {
  WorkerState& worker = *a.b.worker;
  RangeRef& range = worker.ranges[a.s.id % worker.ranges.size()];
  if (!range || address < range->base || address >= range->end)
    range = shadow_.find(*memory_.load(std::memory_order_relaxed), address);
  return range.get();
}

// Whether a volatile load relies on its warp being in step with the lane that stored the value.
bool Checker::is_in_step(const Access& a, Record write) {
  if (write.segment() == Record::kNotOver) return false;
  const Segment& then = segments_[write.segment()];
  return then.launch == a.b.launch->id && then.block == a.b.index && then.warp == a.w.index &&
         sites_.info(write.site()).act == Act::store;
}

inline void Checker::read_global(const Access& a, Range& range, Cell& cell, uint64_t at,
                                 uint32_t mask, uint32_t thread, uint32_t part) {
  const Record write = get(cell.write);
  if (write.segment() >= a.b.launch->bound && (write.bytes() & mask) &&
      !(write.segment() == a.segment && write.thread() == thread) &&
      (!(a.s.strong && write.flags() & Record::kStrong) || (a.s.in_step && is_in_step(a, write))))
      [[unlikely]]
    report_conflict(a, {thread, mask, at, part, false}, write, true, false, false);
  if ((write.bytes() & mask) != mask && range.starts_empty && !range.page_is_written(at) &&
      (range.written(at) & mask) != mask) [[unlikely]]
    report_empty(a, {thread, mask, at, part, false});
  put(cell.read, Record::of(a.segment, a.s.strong, mask, thread, a.s.id));
}

inline void Checker::write_global(const Access& a, Range& range, Cell& cell, uint64_t at,
                                  uint32_t mask, uint32_t thread, uint32_t part, uint32_t flags) {
  const Record write = get(cell.write), read = get(cell.read);
  const Word word{thread, mask, at, part, false};
  const uint32_t bound = a.b.launch->bound;
  const auto conflicts = [&](Record other) {
    return other.segment() >= bound && (other.bytes() & mask) &&
           !(other.segment() == a.segment && other.thread() == thread) &&
           !(flags & other.flags() & Record::kStrong);
  };
  bool races = false;
  if (conflicts(write)) [[unlikely]]
    races = report_conflict(a, word, write, true, true, false);
  if (conflicts(read)) [[unlikely]]
    report_conflict(a, word, read, false, true, false);
  if (a.s.act == Act::atomic && !a.s.blind && range.starts_empty &&
      (write.bytes() & mask) != mask && !range.page_is_written(at) &&
      (range.written(at) & mask) != mask)
    report_empty(a, word);
  if (mask != 15 && range.starts_empty && !range.page_is_written(at))
    range.set_written(at, mask | write.bytes());
  Record mine = Record::of(a.segment, flags, mask, thread, a.s.id);
  if (flags && (races || is_own_plain_write(write, mine))) mine = write;
  put(cell.write, mine);
  put(cell.read, {});
}

// Loads of whole words, page by page. Returns the lanes that are not done.
uint32_t Checker::read_pages(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  const uint32_t bound = a.b.launch->bound;
  const Record lane_0 = Record::of(a.segment, a.s.strong, 15, a.base, a.s.id);
  for (uint32_t left = lanes; left;) {
    const uint64_t first = at[__builtin_ctz(left)];
    Range* range = range_of(a, first);
    if (!range) return left;
    const uint64_t page_start = first / Page::kBytes * Page::kBytes;
    const uint64_t low = std::max(page_start, range->base);
    const uint64_t high = std::min(page_start + Page::kBytes, range->end);
    const uint32_t here = left & lanes_between(at, low, high - bytes);
    if (!here) return left;
    left &= ~here;
    Page& page = range->page(first);
    const bool may_be_empty = range->starts_empty && !range->page_is_written(first);
    each_active(here, [&](int i) {
      Cell* cell = page.cells + Range::word(at[i]);
      const Record mine{lane_0.bits + (uint64_t(i) << 16)};
      for (uint32_t part = 0; part * 4 < bytes; ++part, ++cell) {
        const Record write = get(cell->write);
        if (write.segment() >= bound || (may_be_empty && write.bytes() != 15)) [[unlikely]]
          read_global(a, *range, *cell, (at[i] & ~3ull) + part * 4, 15, a.base + uint32_t(i), part);
        else put(cell->read, mine);
      }
    });
  }
  return 0;
}

void Checker::forget_freed_ranges(WorkerState& worker) {
  const uint64_t epoch = memory_.load(std::memory_order_relaxed)->epoch();
  if (worker.memory_epoch == epoch) return;
  worker.ranges.fill(nullptr);
  worker.memory_epoch = epoch;
}

void Checker::on_global(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  forget_freed_ranges(*a.b.worker);
  const bool reads = a.s.act == Act::load || a.s.act == Act::load_tile || a.s.act == Act::copy;
  if (a.s.strong && !reads) release(a, lanes, at, false);
  const uint32_t flags = a.s.strong ? Record::kStrong : 0;
  if (!reads && !flags) a.ws.fenced_now = false;
  if (!reads && a.b.copies_in_flight()) check_sources(a, lanes, at, bytes);
  if (!a.b.writes.empty()) [[unlikely]]
    check_bulk_writes(a, lanes, at, bytes, reads);
  const uint32_t odd = reads && bytes >= 4 ? read_pages(a, lanes, at, bytes) : lanes;
  Range* range = nullptr;
  Page* page = nullptr;
  uint64_t page_start = ~0ull;
  for (uint32_t left = odd; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!range || at[i] < range->base || at[i] >= range->end) {
      range = range_of(a, at[i]);
      page_start = ~0ull;
    }
    if (!range || at[i] + bytes > range->end) continue;  // it faults
    const uint32_t mask = mask_of(at[i], bytes), thread = a.base + uint32_t(i);
    uint64_t word = at[i] & ~3ull;
    for (uint32_t part = 0; part * 4 < bytes; ++part, word += 4) {
      if (word - page_start >= Page::kBytes) {
        page_start = word / Page::kBytes * Page::kBytes;
        page = &range->page(word);
      }
      Cell& cell = page->cells[Range::word(word)];
      if (reads) read_global(a, *range, cell, word, mask, thread, part);
      else write_global(a, *range, cell, word, mask, thread, part, flags);
    }
  }
  if (a.s.strong && (reads || a.s.returns)) wait_for_result(a, lanes, at, false);
}

// What a bulk copy reads or writes, for one thread.
void Checker::touch_global(const Access& a, uint32_t thread, uint64_t begin, uint64_t end,
                           bool writes, uint32_t flags) {
  if (writes) a.ws.fenced_now = false;
  forget_freed_ranges(*a.b.worker);
  Range* range = range_of(a, begin);
  if (!range) return;
  end = std::min(end, range->end);
  Page* page = nullptr;
  uint64_t page_start = ~0ull;
  for (uint64_t word = begin & ~3ull; word < end; word += 4) {
    if (word - page_start >= Page::kBytes) {
      page_start = word / Page::kBytes * Page::kBytes;
      page = &range->page(word);
    }
    Cell& cell = page->cells[Range::word(word)];
    if (writes) write_global(a, *range, cell, word, 15, thread, 0, flags);
    else read_global(a, *range, cell, word, 15, thread, 0);
  }
}

// Whether the word holds already, or another lane of the instruction writes there, what is written
// now: nobody can tell who was last.
bool Checker::same_value(const Access& a, const Word& word, Record other) const {
  if (a.s.act != Act::store) return false;
  const auto bytes_of = [&](uint32_t lane, uint8_t* out) {
    for (uint32_t e = 0; e * a.s.element < a.s.bytes; ++e) {
      const uint32_t reg = data_register(a.inst, int(e));
      uint64_t value = 0;
      switch (a.s.element) {
        case 1: value = a.w.src<uint16_t>(reg)[lane]; break;
        case 2: value = a.w.src<uint16_t>(reg)[lane]; break;
        case 4: value = a.w.src<uint32_t>(reg)[lane]; break;
        default: value = a.w.src<uint64_t>(reg)[lane];
      }
      std::memcpy(out + e * a.s.element, &value, a.s.element);
    }
  };
  uint8_t mine[32] = {}, theirs[32] = {};
  const uint32_t lane = word.thread % kWarpSize;
  bytes_of(lane, mine);
  const uint32_t length = std::min<uint32_t>(a.s.bytes, 4), shift = word.part * 4;
  const uint32_t other_lane = other.thread() % kWarpSize;
  if (other.segment() == a.segment && other.site() == a.s.id && a.w.mask >> other_lane & 1) {
    bytes_of(other_lane, theirs);
    return std::memcmp(mine + shift, theirs + shift, length) == 0;
  }
  const uint32_t inside = uint32_t(__builtin_ctz(word.mask));
  const uint8_t* shared = word.home ? word.home->block->warps[0].shared : a.w.shared;
  const auto* there = word.shared ? shared + word.address + inside
                                  : a.w.worker->memory->place(word.address + inside);
  return std::memcmp(mine + shift, there, length) == 0;
}

}  // namespace ridge::vm::check
