#include "vm/mem/allocations.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "core/align.h"

namespace ridge::vm {
namespace {

constexpr uint64_t kGranule = 256;    // device allocations start on this, as on hardware
constexpr uint64_t kHostPage = 4096;  // what can be guarded
// Freed ranges that stay unused, so that a use after free is seen as one.
constexpr size_t kQuarantine = 256;
constexpr size_t kRemembered = 4096;  // freed ranges that reports can name
// Address space for each byte of capacity: rounding to pages at most doubles an allocation, and red
// zones and the quarantine must not make a fitting one fail.
constexpr uint64_t kAddressesPerByte = 3;
constexpr uint64_t kLeastArena = 1ull << 26;

}  // namespace

bool Allocations::Mapping::map(uint64_t bytes, int protection, int file) {
  // Device pages start on their own size.
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* p = mmap(nullptr, bytes + kDevicePage, protection, kind | MAP_NORESERVE, file, 0);
  if (p == MAP_FAILED) return false;
  base = reinterpret_cast<uint64_t>(p);
  size = bytes + kDevicePage;
  return true;
}

void Allocations::Mapping::unmap() {
  if (size) munmap(reinterpret_cast<void*>(base), size);
  base = size = 0;
}

Allocations::Mapping::~Mapping() { unmap(); }

Allocations::Allocations(uint64_t capacity_bytes, bool closed, bool watched)
    : capacity_(capacity_bytes) {
  constexpr int kOpen = PROT_READ | PROT_WRITE;
  for (uint64_t size = round_up(capacity_bytes, kDevicePage) * kAddressesPerByte;
       size >= kLeastArena; size = round_up(size / 2, kDevicePage)) {
    // What is watched has memory that lies at two places: the host's can be guarded.
    const int file = watched ? memfd_create("ridge host memory", MFD_CLOEXEC) : -1;
    const bool mapped =
        bytes_.map(size, kOpen) && (!closed || names_.map(size, PROT_NONE)) &&
        (!watched || (file >= 0 && ftruncate(file, off_t(size + kDevicePage)) == 0 &&
                      watched_bytes_.map(size, kOpen, file))) &&
        open_.map(size, kOpen, file);
    if (file >= 0) close(file);
    if (!mapped) {
      for (Mapping* mapping : {&bytes_, &names_, &open_, &watched_bytes_}) mapping->unmap();
      continue;
    }
    // Something of each lies before its first address: nobody else's memory begins there.
    const uint64_t bytes = round_up(bytes_.base + 1, kDevicePage);
    const uint64_t names = closed ? round_up(names_.base + 1, kDevicePage) : bytes;
    device_.open(names, size, kGranule);
    host_.open(round_up(open_.base + 1, kDevicePage), size, watched ? kHostPage : kGranule);
    closed_ = names_.base;
    closed_size_ = names_.size;
    closed_shift_ = bytes - names;
    if (!watched) return;
    watched_ = open_.base;
    watched_size_ = open_.size;
    watched_shift_ = watched_bytes_.base - open_.base;
    return;
  }
  capacity_ = 0;
}

Allocations::~Allocations() = default;

Arena& Allocations::arena_of(MemKind kind, uint32_t flags) {
  const bool open = kind == MemKind::managed || kind == MemKind::pinned ||
                    (kind == MemKind::variable && flags == kManagedVariable);
  return open ? host_ : device_;
}

void Allocations::end_quarantine() {
  const Allocation& oldest = freed_[freed_.size() - quarantined_];
  arena_of(oldest.kind, oldest.flags).give_back(oldest.base, oldest.size);
  --quarantined_;
}

std::optional<uint64_t> Allocations::allocate(uint64_t size, uint64_t align, MemKind kind,
                                              uint32_t flags, std::string name) {
  const std::unique_lock lock(mutex_);
  if (size > capacity_ || used_ + size > capacity_) return std::nullopt;
  // Variables live at the other end, so that what lies next to an allocation is an allocation.
  Arena& arena = arena_of(kind, flags);
  const auto take = [&] {
    return kind == MemKind::variable ? arena.take_highest(size, align)
                                     : arena.take_lowest(size, align);
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

bool Allocations::add_foreign(uint64_t base, uint64_t size, MemKind kind, uint32_t flags,
                              std::string name) {
  const std::unique_lock lock(mutex_);
  auto next = live_.lower_bound(base);
  if (next != live_.end() && next->first < base + size) return false;
  if (next != live_.begin() && std::prev(next)->second.end() > base) return false;
  live_[base] = {base, size, kind, flags, next_id_++, std::move(name)};
  epoch_.fetch_add(1, std::memory_order_release);
  return true;
}

bool Allocations::add_registered(uint64_t base, uint64_t size, uint32_t flags, std::string name) {
  return add_foreign(base, size, MemKind::registered, flags, std::move(name));
}

bool Allocations::rename(uint64_t base, uint64_t size, const std::string& name) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(base);
  if (found == live_.end() || found->second.size != size ||
      found->second.kind != MemKind::registered)
    return false;
  if (!name.empty()) found->second.name = name;
  return true;
}

bool Allocations::add_mapped(uint64_t base, uint64_t size) {
  return add_foreign(base, size, MemKind::mapped, 0);
}

std::optional<uint64_t> Allocations::reserve(uint64_t size, uint64_t align) {
  const std::unique_lock lock(mutex_);
  const uint64_t base = device_.take_lowest(size, align);
  return base ? std::optional(base) : std::nullopt;
}

void Allocations::unreserve(uint64_t base, uint64_t size) {
  const std::unique_lock lock(mutex_);
  device_.give_back(base, size);
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
  const uint64_t footprint = arena_of(kind, freed.flags).footprint(freed.size);
  if (is_watched(base)) guard(base, base + footprint, Guard::open);
  if (freed.size >= kOwnPages)  // its memory goes back at once, with what strays behind its end
    madvise(place(base), footprint, is_watched(base) ? MADV_REMOVE : MADV_DONTNEED);
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

void Allocations::guard(uint64_t begin, uint64_t end, Guard guard) const {
  begin = begin / kHostPage * kHostPage;
  const int protection = guard == Guard::open        ? PROT_READ | PROT_WRITE
                         : guard == Guard::read_only ? PROT_READ
                                                     : PROT_NONE;
  mprotect(reinterpret_cast<void*>(begin), round_up(end, kHostPage) - begin, protection);
}

bool Allocations::is_mapped_on_a_gpu(uint64_t begin, uint64_t end) const {
  if (end <= begin || !is_device_range(begin) || !is_device_range(end - 1)) return false;
  const std::shared_lock lock(mutex_);
  for (uint64_t page = begin / kDevicePage * kDevicePage; page < end; page += kDevicePage) {
    const auto after = live_.lower_bound(page + kDevicePage);
    if (after == live_.begin() || std::prev(after)->second.end() <= page) return false;
  }
  return true;
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
