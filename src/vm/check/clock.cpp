#include "vm/check/clock.h"

#include <algorithm>

namespace ridge::vm::check {
namespace {

constexpr size_t kLongest = 1 << 14;

bool before(const Known& a, const Known& b) {
  return a.block != b.block ? a.block < b.block : a.warp < b.warp;
}

}  // namespace

bool Clock::covers(uint32_t block, uint32_t warp, uint32_t interval, uint32_t tick) const {
  if (all) return true;
  auto at = std::lower_bound(known.begin(), known.end(), Known{block, 0, 0, 0, 0}, before);
  for (; at != known.end() && at->block == block; ++at)
    if (interval < at->interval || (warp == at->warp && tick < at->tick)) return true;
  return false;
}

ClockRef single(const Known& known) {
  auto clock = std::make_shared<Clock>();
  clock->known.push_back(known);
  return clock;
}

ClockRef join(const ClockRef& a, const ClockRef& b) {
  if (!a || a == b) return b;
  if (!b || a->all) return a;
  if (b->all) return b;
  auto clock = std::make_shared<Clock>();
  clock->known.reserve(a->known.size() + b->known.size());
  auto x = a->known.begin(), y = b->known.begin();
  while (x != a->known.end() || y != b->known.end()) {
    if (y == b->known.end() || (x != a->known.end() && before(*x, *y))) {
      clock->known.push_back(*x++);
    } else if (x == a->known.end() || before(*y, *x)) {
      clock->known.push_back(*y++);
    } else {
      clock->known.push_back({x->block, x->warp, std::max(x->interval, y->interval),
                              std::max(x->tick, y->tick), std::max(x->block_tick, y->block_tick)});
      ++x, ++y;
    }
  }
  if (clock->known.size() > kLongest) {
    clock->known.clear();
    clock->all = true;
  }
  return clock;
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
