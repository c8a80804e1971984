#include "vm/mem/arena.h"

#include <algorithm>
#include <iterator>

#include "core/align.h"

namespace ridge::vm {
namespace {

constexpr uint64_t kRedZone = 256;  // never handed out

}  // namespace

void Arena::open(uint64_t base, uint64_t size, uint64_t granule) {
  gaps_ = {{base, size}};
  base_ = base;
  size_ = size;
  granule_ = granule;
}

uint64_t Arena::granule_of(uint64_t size) const {
  return size < kOwnPages ? granule_ : kDevicePage;
}

uint64_t Arena::footprint(uint64_t size) const {
  return round_up(size + kRedZone, granule_of(size));
}

uint64_t Arena::take_lowest(uint64_t wanted, uint64_t align) {
  const uint64_t size = footprint(wanted);
  align = std::max(align, granule_of(wanted));
  for (auto it = gaps_.begin(); it != gaps_.end(); ++it) {
    const uint64_t base = round_up(it->first, align);
    const uint64_t lead = base - it->first;
    if (it->second < lead || it->second - lead < size) continue;
    if (it->second - lead > size) gaps_.emplace(base + size, it->second - lead - size);
    if (lead) it->second = lead;
    else gaps_.erase(it);
    return base;
  }
  return 0;
}

uint64_t Arena::take_highest(uint64_t wanted, uint64_t align) {
  const uint64_t size = footprint(wanted);
  align = std::max(align, granule_of(wanted));
  for (auto it = gaps_.rbegin(); it != gaps_.rend(); ++it) {
    const auto [gap, gap_size] = *it;
    if (gap_size < size) continue;
    const uint64_t base = (gap + gap_size - size) / align * align;
    if (base < gap) continue;
    if (base + size < gap + gap_size) gaps_.emplace(base + size, gap + gap_size - base - size);
    if (base > gap) gaps_[gap] = base - gap;
    else gaps_.erase(gap);
    return base;
  }
  return 0;
}

void Arena::give_back(uint64_t base, uint64_t taken) {
  const uint64_t size = footprint(taken);
  auto gap = gaps_.emplace(base, size).first;
  if (const auto next = std::next(gap); next != gaps_.end() && base + size == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return;
  const auto before = std::prev(gap);
  if (before->first + before->second != base) return;
  before->second += gap->second;
  gaps_.erase(gap);
}

}  // namespace ridge::vm
