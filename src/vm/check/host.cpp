// What the host does: copies and fills, in the order of streams.
#include <algorithm>

#include "vm/check/checker.h"

namespace ridge::vm::check {
namespace {

constexpr size_t kMostPast = 256;

}  // namespace

// The lowest segment of work that is not ordered before this: what lies below needs no question.
uint32_t Checker::bound_of(const WorkOrderRef& order) {
  const uint32_t now = segments_.next();
  uint32_t bound = now;
  if (order)
    for (const Past& past : past_)
      if (past.order && !past.order->is_before(*order)) bound = std::min(bound, past.first);
  past_.push_back({order, now});
  if (past_.size() > kMostPast) past_.pop_front();
  return bound;
}

bool Checker::launch_is_before(uint32_t launch, uint32_t other, bool has_waited) {
  // A dependent launch asks this for every word that its predecessor wrote.
  thread_local struct {
    const Checker* checker = nullptr;
    uint32_t launch = 0, other = 0;
    bool has_waited = false, answer = false;
  } known;
  if (known.checker == this && known.launch == launch && known.other == other &&
      known.has_waited == has_waited)
    return known.answer;
  const std::lock_guard lock(mutex_);
  const WorkOrderRef &a = orders_[launch], &b = orders_[other];
  const bool answer = !a || !b || a->is_before(*b, has_waited);
  known = {this, launch, other, has_waited, answer};
  return answer;
}

void Checker::copies(const Allocations& memory, uint64_t to, uint64_t from, uint64_t bytes) {
  memory_ = &memory;
  copy_touches(from, bytes, false, Sites::kCopy);
  const RangeRef target = shadow_.find(*memory_, to);
  if (target && target->starts_empty) {
    const RangeRef source = shadow_.find(*memory_, from);
    if (!source || !source->starts_empty) {
      target->set_written(to, to + bytes);
    } else {  // what has no value has none in the copy
      for (uint64_t k = 0; k < bytes; ++k)
        if (source->written((from + k) & ~3ull) >> (from + k) % 4 & 1)
          target->set_written((to + k) & ~3ull, 1u << (to + k) % 4);
    }
  }
  copy_touches(to, bytes, true, Sites::kCopy);
}

void Checker::fills(const Allocations& memory, uint64_t to, uint64_t bytes) {
  memory_ = &memory;
  if (const RangeRef range = shadow_.find(*memory_, to)) range->set_written(to, to + bytes);
  copy_touches(to, bytes, true, Sites::kFill);
}

// Only where there are several streams: otherwise all is in order.
void Checker::copy_touches(uint64_t address, uint64_t bytes, bool writes, uint32_t site) {
  const WorkOrderRef order = current_order();
  if (!order || order->alone || !bytes) return;
  const RangeRef range = shadow_.find(*memory_, address);
  if (!range) return;
  HostWork work{0, 0, 0, order};
  {
    const std::lock_guard lock(mutex_);
    work.bound = bound_of(order);
    work.segment = segments_.reserve(1);
    work.launch = uint32_t(orders_.size());
    orders_.push_back(order);
  }
  segments_[work.segment] = {work.launch, 0, 0, 0, 0, 0};
  for (uint64_t at = address & ~3ull; at < std::min(address + bytes, range->end); at += 4) {
    uint32_t mask = 0;
    for (uint64_t k = at; k < at + 4; ++k)
      mask |= uint32_t(k >= address && k < address + bytes) << (k & 3);
    Cell& cell = range->page(at).cells[Range::word(at)];
    const Record write = get(cell.write), read = get(cell.read);
    if (write.segment() >= work.bound && (write.bytes() & mask))
      report_host(work, at, write, true, writes, site);
    if (writes && read.segment() >= work.bound && (read.bytes() & mask))
      report_host(work, at, read, false, writes, site);
    const Record mine = Record::of(work.segment, 0, mask, 0, site);
    if (!writes) {
      put(cell.read, mine);
      continue;
    }
    if (mask != 15 && range->starts_empty) range->set_written(at, mask | write.bytes());
    put(cell.write, mine);
    put(cell.read, {});
  }
}

void Checker::report_host(const HostWork& work, uint64_t address, Record other, bool other_writes,
                          bool writes, uint32_t site) {
  if (launch_is_before(segments_[other.segment()].launch, work.launch)) return;
  if (!findings_.is_new("race", other.site(), site)) return;
  const SiteInfo before = sites_.info(other.site());
  Finding f;
  f.kind = "race";
  f.space = "global";
  f.kernel = report::function_name(before.kernel);
  f.first = {other.site(), other_writes ? "write" : "read", "work of another stream"};
  f.second = {site, writes ? "write" : "read",
              "stream " + std::to_string(work.order->stream) + ", operation " +
                  std::to_string(work.order->number)};
  f.address = address;
  f.bytes = 4;
  if (const auto home = memory_.load()->find(address))
    f.memory = "allocation #" + std::to_string(home->id) + " of " + std::to_string(home->size) +
               " bytes, byte " + std::to_string(address - home->base);
  f.what = "work of two streams touches the same memory, and nothing orders them";
  f.fix = kOrderStreams;
  f.fix_kind = "wait-event";
  f.scope = "launches";
  findings_.add(f);
}

}  // namespace ridge::vm::check
