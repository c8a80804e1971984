#include "vm/mem/allocations.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace ridge::vm {
namespace {

constexpr uint64_t kGranule = 256;  // device allocations start on this, as on hardware
// Never handed out, so that one array's end is not the next one's start.
constexpr uint64_t kRedZone = 256;
// Freed ranges that stay unused, so that a use after free is seen as one.
constexpr size_t kQuarantine = 256;
constexpr size_t kRemembered = 4096;        // freed ranges that reports can name
constexpr uint64_t kReturnPages = 1 << 20;  // freed ranges this large give their pages back at once

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
uint64_t footprint(uint64_t size) { return round_up(size, kGranule) + kRedZone; }

}  // namespace

Allocations::Allocations(uint64_t capacity_bytes) : capacity_(capacity_bytes) {
  // Twice the capacity in address space: red zones and the quarantine must not make a fitting
  // allocation fail.
  for (uint64_t size = capacity_bytes * 2; size >= (1ull << 26); size /= 2) {
    void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    arena_ = reinterpret_cast<uint64_t>(p);
    arena_size_ = size;
    try {
      free_.emplace(arena_, size);
    } catch (const std::bad_alloc&) {
      munmap(p, size);
      throw;
    }
    return;
  }
  capacity_ = 0;
}

Allocations::~Allocations() {
  if (arena_) munmap(reinterpret_cast<void*>(arena_), arena_size_);
}

uint64_t Allocations::take_range(uint64_t size, uint64_t align) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const uint64_t base = round_up(it->first, align);
    const uint64_t lead = base - it->first;
    if (it->second < lead || it->second - lead < size) continue;
    if (it->second - lead > size) free_.emplace(base + size, it->second - lead - size);
    if (lead) it->second = lead;
    else free_.erase(it);
    return base;
  }
  return 0;
}

uint64_t Allocations::take_highest(uint64_t size, uint64_t align) {
  for (auto it = free_.rbegin(); it != free_.rend(); ++it) {
    const auto [gap, gap_size] = *it;
    if (gap_size < size) continue;
    const uint64_t base = (gap + gap_size - size) / align * align;
    if (base < gap) continue;
    if (base + size < gap + gap_size) free_.emplace(base + size, gap + gap_size - base - size);
    if (base > gap) free_[gap] = base - gap;
    else free_.erase(gap);
    return base;
  }
  return 0;
}

void Allocations::return_range(uint64_t base, uint64_t size) {
  auto gap = free_.emplace(base, size).first;
  if (const auto next = std::next(gap); next != free_.end() && base + size == next->first) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap == free_.begin()) return;
  const auto before = std::prev(gap);
  if (before->first + before->second != base) return;
  before->second += gap->second;
  free_.erase(gap);
}

void Allocations::end_quarantine() {
  const Allocation& oldest = freed_[freed_.size() - quarantined_];
  return_range(oldest.base, footprint(oldest.size));
  --quarantined_;
}

std::optional<uint64_t> Allocations::allocate(uint64_t size, uint64_t align, MemKind kind,
                                              uint32_t flags, std::string name) {
  const std::unique_lock lock(mutex_);
  if (size > capacity_ || used_ + size > capacity_) return std::nullopt;
  // Variables live at the other end, so that what lies next to an allocation is an allocation.
  const uint64_t unit = std::max(align, kGranule);
  const auto take = [&] {
    return kind == MemKind::variable ? take_highest(footprint(size), unit)
                                     : take_range(footprint(size), unit);
  };
  // Its entry first, so that no memory for it means nothing was taken.
  std::map<uint64_t, Allocation> entry;
  entry.emplace(0, Allocation{0, size, kind, flags, next_id_, std::move(name)});
  uint64_t base = take();
  while (!base && quarantined_) {  // rather reuse freed memory early than fail
    end_quarantine();
    base = take();
  }
  if (!base) return std::nullopt;
  auto node = entry.extract(entry.begin());
  node.key() = node.mapped().base = base;
  live_.insert(std::move(node));
  ++next_id_;
  used_ += size;
  epoch_.fetch_add(1, std::memory_order_release);
  return base;
}

bool Allocations::add_foreign(uint64_t base, uint64_t size, MemKind kind, uint32_t flags) {
  const std::unique_lock lock(mutex_);
  auto next = live_.lower_bound(base);
  if (next != live_.end() && next->first < base + size) return false;
  if (next != live_.begin() && std::prev(next)->second.end() > base) return false;
  live_[base] = {base, size, kind, flags, next_id_++, {}};
  epoch_.fetch_add(1, std::memory_order_release);
  return true;
}

bool Allocations::add_registered(uint64_t base, uint64_t size, uint32_t flags) {
  return add_foreign(base, size, MemKind::registered, flags);
}

bool Allocations::add_mapped(uint64_t base, uint64_t size) {
  return add_foreign(base, size, MemKind::mapped, 0);
}

std::optional<uint64_t> Allocations::reserve(uint64_t size, uint64_t align) {
  const std::unique_lock lock(mutex_);
  const uint64_t base = take_range(footprint(size), align);
  return base ? std::optional(base) : std::nullopt;
}

void Allocations::unreserve(uint64_t base, uint64_t size) {
  const std::unique_lock lock(mutex_);
  return_range(base, footprint(size));
}

bool Allocations::claim(uint64_t size) {
  const std::unique_lock lock(mutex_);
  if (size > capacity_ || used_ + size > capacity_) return false;
  used_ += size;
  return true;
}

void Allocations::unclaim(uint64_t size) {
  const std::unique_lock lock(mutex_);
  used_ -= size;
}

bool Allocations::release(uint64_t base, MemKind kind) {
  const std::unique_lock lock(mutex_);
  const auto it = live_.find(base);
  if (it == live_.end() || it->second.kind != kind) return false;
  auto node = live_.extract(it);
  Allocation& freed = node.mapped();
  epoch_.fetch_add(1, std::memory_order_release);
  if (kind == MemKind::registered || kind == MemKind::mapped) return true;
  used_ -= freed.size;
  if (freed.size >= kReturnPages) {
    const uint64_t first = round_up(freed.base, 4096), last = freed.end() / 4096 * 4096;
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  try {
    if (quarantined_ == kQuarantine) end_quarantine();
    freed_.push_back(std::move(freed));
    ++quarantined_;
    if (freed_.size() > kRemembered) freed_.pop_front();
  } catch (const std::bad_alloc&) {
    // No memory to remember the range by: its addresses stay unused.
  }
  return true;
}

void Allocations::release_all() {
  std::vector<std::pair<uint64_t, MemKind>> all;
  for (const Allocation& a : live())
    if (a.kind != MemKind::variable) all.emplace_back(a.base, a.kind);
  for (const auto& [base, kind] : all) release(base, kind);
}

std::optional<Allocation> Allocations::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return std::nullopt;
  --it;
  if (address >= it->second.end()) return std::nullopt;
  return it->second;
}

std::optional<Allocation> Allocations::find_freed(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  for (auto it = freed_.rbegin(); it != freed_.rend(); ++it)
    if (address >= it->base && address < it->end()) return *it;
  return std::nullopt;
}

std::optional<Allocation> Allocations::nearest(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  if (live_.empty()) return std::nullopt;
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) return after->second;
  const Allocation& before = std::prev(after)->second;
  if (after == live_.end()) return before;
  const uint64_t below = address >= before.end() ? address - before.end() : 0;
  return below <= after->first - address ? before : after->second;
}

std::vector<Allocation> Allocations::live() const {
  const std::shared_lock lock(mutex_);
  std::vector<Allocation> all;
  for (const auto& [base, allocation] : live_) all.push_back(allocation);
  return all;
}

uint64_t Allocations::used() const {
  const std::shared_lock lock(mutex_);
  return used_;
}

}  // namespace ridge::vm
