#include "vm/check/shadow.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "core/align.h"

namespace ridge::vm::check {
namespace {

uint64_t first_page(uint64_t address) { return address / Page::kBytes * Page::kBytes; }

bool is_empty_at_first(const Allocation& a) {
  const MemKind kind = a.kind;
  return (kind == MemKind::registered && (a.flags & kStartsUnwritten)) || kind == MemKind::device ||
         kind == MemKind::device_heap || kind == MemKind::mapped;
}

}  // namespace

Range::Range(const Allocation& a)
    : base(a.base),
      end(a.end()),
      id(a.id),
      starts_empty(is_empty_at_first(a)),
      base_(first_page(a.base)),
      count_((a.end() - base_ + Page::kBytes - 1) / Page::kBytes),
      pages_(new std::atomic<Page*>[count_]()),
      full_(new std::atomic<bool>[count_]()) {}

Range::~Range() {
  for (uint64_t k = 0; k < count_; ++k) delete pages_[k].load();
}

Page& Range::make(std::atomic<Page*>& slot) {
  auto made = std::make_unique<Page>();
  Page* expected = nullptr;
  if (slot.compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;
}

void Range::set_written(uint64_t from, uint64_t to) {
  if (!starts_empty) return;
  from = std::max(from, base), to = std::min(to, end);
  while (from < to) {
    const uint64_t page_start = std::max(first_page(from), base);
    const uint64_t page_end = std::min(first_page(from) + Page::kBytes, end);
    if (from == page_start && to >= page_end) {
      full_[(from - base_) / Page::kBytes].store(true, std::memory_order_relaxed);
      from = page_end;
      continue;
    }
    const uint64_t next = std::min(to, page_end), word_end = (from | 3) + 1;
    const uint64_t stop = std::min(next, word_end);
    uint32_t mask = 0;
    for (uint64_t at = from; at < stop; ++at) mask |= 1u << (at & 3);
    set_written(from & ~3ull, mask);
    from = stop;
  }
}

void Range::set_written(uint64_t at, uint32_t mask) {
  const uint64_t w = word(at);
  page(at).written[w / 2].fetch_or(uint8_t(mask << 4 * (w & 1)), std::memory_order_relaxed);
}

uint32_t Range::written(uint64_t at) const {
  const uint64_t index = (at - base_) / Page::kBytes;
  if (full_[index].load(std::memory_order_relaxed)) return 15;
  const Page* page = pages_[index].load(std::memory_order_acquire);
  if (!page) return 0;
  const uint64_t w = word(at);
  const Record last = get(page->cells[w].write);
  const uint32_t by_store = last.bits ? last.bytes() : 0;
  return by_store | (page->written[w / 2].load(std::memory_order_relaxed) >> 4 * (w & 1) & 15);
}

void Range::look_for_values() {
  const auto is_empty = [](uint64_t at) {
    return *reinterpret_cast<const uint32_t*>(at) == kUnwrittenWord;  // the host's own address
  };
  const uint64_t first = round_up(base, 4), last = end / 4 * 4;  // whole words
  set_written(base, std::min(end, first));
  set_written(std::max(base, last), end);
  for (uint64_t from = first; from < last;) {
    const uint64_t to = std::min(first_page(from) + Page::kBytes, last);
    bool any = false;
    for (uint64_t at = from; at < to && !any; at += 4) any = is_empty(at);
    if (!any) set_written(from, to);
    else
      for (uint64_t at = from; at < to; at += 4)
        if (!is_empty(at)) set_written(at, uint32_t(15));
    from = to;
  }
}

void Shadow::look_at_host_arrays(const Allocations& memory) {
  for (const Allocation& a : memory.live())
    if (a.kind == MemKind::registered && (a.flags & kStartsUnwritten))
      if (const RangeRef range = find(memory, a.base)) range->look_for_values();
}

RangeRef Shadow::find(const Allocations& memory, uint64_t address) {
  const auto home = memory.find(address);
  if (!home) return nullptr;
  {
    const std::shared_lock lock(mutex_);
    const auto found = ranges_.find(home->base);
    if (found != ranges_.end() && found->second->id == home->id) return found->second;
  }
  auto made = std::make_shared<Range>(*home);
  const std::unique_lock lock(mutex_);
  RangeRef& slot = ranges_[home->base];
  if (!slot || slot->id != home->id) slot = std::move(made);
  return slot;
}

void Shadow::forget_freed(const Allocations& memory) {
  std::set<uint64_t> live;
  for (const Allocation& a : memory.live()) live.insert(a.id);
  const std::unique_lock lock(mutex_);
  std::erase_if(ranges_, [&](const auto& entry) { return !live.contains(entry.second->id); });
}

}  // namespace ridge::vm::check
