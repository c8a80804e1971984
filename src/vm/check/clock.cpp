#include "vm/check/clock.h"

#include <algorithm>

namespace ridge::vm::check {
namespace {

constexpr size_t kLongest = 1 << 14;
constexpr uint32_t kBlocksOfPart = 8;

bool before(const Known& a, const Known& b) {
  return a.block != b.block ? a.block < b.block : a.warp < b.warp;
}

bool holds(const Known& a, const Known& b) {
  return a.interval >= b.interval && a.tick >= b.tick && a.block_tick >= b.block_tick &&
         a.read_interval >= b.read_interval;
}

// Whether `a` knows all that `b` knows.
bool holds(const std::vector<Known>& a, const std::vector<Known>& b) {
  if (a.size() < b.size()) return false;
  auto x = a.begin();
  for (const Known& y : b) {
    while (x != a.end() && before(*x, y)) ++x;
    if (x == a.end() || before(y, *x) || !holds(*x, y)) return false;
  }
  return true;
}

}  // namespace

Clock::Clock(std::vector<Known> of_one_block) {
  if (of_one_block.empty()) return;
  const uint32_t number = of_one_block[0].block / kBlocksOfPart;
  entries_.push_back({number, std::make_shared<const Part>(std::move(of_one_block))});
}

std::span<const Known> Clock::of(uint32_t block) const {
  const auto entry = std::ranges::lower_bound(entries_, block / kBlocksOfPart, {}, &Entry::number);
  if (entry == entries_.end() || entry->number != block / kBlocksOfPart) return {};
  const auto range = std::ranges::equal_range(*entry->part, block, {}, &Known::block);
  return {range.begin(), range.end()};
}

bool Clock::covers(uint32_t block, uint32_t warp, uint32_t interval, uint32_t tick,
                   bool read) const {
  return all_ || std::ranges::any_of(of(block), [&](const Known& k) {
           return interval < k.interval || (warp == k.warp && tick < k.tick) ||
                  (read && interval < k.read_interval);
         });
}

std::shared_ptr<const Clock::Part> Clock::join(const std::shared_ptr<const Part>& a,
                                               const std::shared_ptr<const Part>& b) {
  if (a == b || holds(*a, *b)) return a;
  if (holds(*b, *a)) return b;
  auto both = std::make_shared<Part>();
  both->reserve(a->size() + b->size());
  auto x = a->begin(), y = b->begin();
  while (x != a->end() || y != b->end()) {
    if (y == b->end() || (x != a->end() && before(*x, *y))) {
      both->push_back(*x++);
    } else if (x == a->end() || before(*y, *x)) {
      both->push_back(*y++);
    } else {
      both->push_back({x->block, x->warp, std::max(x->interval, y->interval),
                       std::max(x->tick, y->tick), std::max(x->block_tick, y->block_tick),
                       std::max(x->read_interval, y->read_interval)});
      ++x, ++y;
    }
  }
  return both;
}

ClockRef reads_of(const ClockRef& clock) {
  if (!clock || clock->all_) return clock;
  Clock reads;
  for (const Clock::Entry& entry : clock->entries_) {
    Clock::Part part;
    for (const Known& k : *entry.part)
      part.push_back({k.block, k.warp, 0, 0, 0, std::max(k.interval, k.read_interval)});
    reads.entries_.push_back({entry.number, std::make_shared<const Clock::Part>(std::move(part))});
  }
  return std::make_shared<const Clock>(std::move(reads));
}

ClockRef join(const ClockRef& a, const ClockRef& b) {
  if (!a || a == b) return b;
  if (!b || a->all_) return a;
  if (b->all_) return b;
  Clock clock;
  clock.entries_.reserve(a->entries_.size() + b->entries_.size());
  bool is_a = true, is_b = true;  // what is made is no more than one of them
  size_t length = 0;
  auto x = a->entries_.begin(), y = b->entries_.begin();
  while (x != a->entries_.end() || y != b->entries_.end()) {
    if (y == b->entries_.end() || (x != a->entries_.end() && x->number < y->number)) {
      clock.entries_.push_back(*x++);
      is_b = false;
    } else if (x == a->entries_.end() || y->number < x->number) {
      clock.entries_.push_back(*y++);
      is_a = false;
    } else {
      auto part = Clock::join(x->part, y->part);
      is_a &= part == x->part;
      is_b &= part == y->part;
      clock.entries_.push_back({x->number, std::move(part)});
      ++x, ++y;
    }
    length += clock.entries_.back().part->size();
  }
  if (is_b) return b;
  if (is_a) return a;
  if (length > kLongest) {
    clock.entries_.clear();
    clock.all_ = true;
  }
  return std::make_shared<const Clock>(std::move(clock));
}

void Releases::release(uint64_t address, uint32_t launch, const ClockRef& clock) {
  any_.store(true, std::memory_order_relaxed);
  Stripe& stripe = of(address);
  const std::lock_guard lock(stripe.mutex);
  Entry& entry = stripe.entries[address];
  entry.clock = entry.launch == launch ? join(entry.clock, clock) : clock;
  entry.launch = launch;
}

ClockRef Releases::acquire(uint64_t address, uint32_t launch) {
  Stripe& stripe = of(address);
  const std::lock_guard lock(stripe.mutex);
  const auto found = stripe.entries.find(address);
  return found == stripe.entries.end() || found->second.launch != launch ? nullptr
                                                                         : found->second.clock;
}

}  // namespace ridge::vm::check
