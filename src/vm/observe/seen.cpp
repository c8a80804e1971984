#include "vm/observe/seen.h"

#include <bit>
#include <cmath>

#include "core/mix.h"

namespace ridge::vm::observe {
namespace {

constexpr uint32_t kTileTurns = 32, kMostTurns = 256;

}  // namespace

// Above 0 and up to 1.
double Seen::chance() { return (double(next_mixed(random_) >> 11) + 1) / double(1ull << 53); }

// Li's algorithm L: the distance to the next access that is kept is drawn at once, so that the
// others cost one comparison.
void Seen::keep(const Access& access) {
  if (sample_.size() < most_) {
    sample_.push_back(access);
    if (sample_.size() < most_) {
      next_ = count_ + 1;
      return;
    }
  } else {
    sample_[size_t(chance() * double(most_)) % most_] = access;
  }
  weight_ *= std::exp(std::log(chance()) / double(most_));
  next_ = count_ + 1 + uint64_t(std::floor(std::log(chance()) / std::log(1 - weight_)));
}

void Seen::take_sectors(const Access& access, uint32_t sectors) {
  const uint32_t turn = turns_[warp_ % 32] - 1;
  if (!in_block_ || turn >= kMostTurns) return;
  const uint64_t tile = uint64_t(turn / kTileTurns) << 59;  // above any sector's number
  ++staging_.requests;
  staging_.moved += sectors;
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const uint64_t at = access.address[size_t(std::countr_zero(left))];
    for (uint64_t s = at / kSectorBytes; s <= (at + access.bytes - 1) / kSectorBytes; ++s)
      if (tile_->insert(tile | s).second) ++staging_.once;
  }
}

uint32_t Footprint::touch(const Access& access, bool writes, Last& last) {
  constexpr uint64_t kWordBytes = 64 * kSectorBytes;
  uint32_t first = 0;
  uint64_t word = ~0ull, bits = 0;
  const auto mark = [&] {
    if (!bits) return;
    const uint64_t number = word / (kPageBytes / kWordBytes) * 2 + writes;
    if (last.number != number) last = {number, &page(number)};
    auto& marks = last.page->word[word % (kPageBytes / kWordBytes)];
    if ((marks.load(std::memory_order_relaxed) & bits) == bits) return;  // usual, and cheaper
    first += uint32_t(std::popcount(bits & ~marks.fetch_or(bits, std::memory_order_relaxed)));
  };
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const uint64_t at = access.address[size_t(std::countr_zero(left))];
    for (uint64_t s = at / kSectorBytes; s <= (at + access.bytes - 1) / kSectorBytes; ++s) {
      if (s / 64 != word) {
        mark();
        word = s / 64;
        bits = 0;
      }
      bits |= 1ull << s % 64;
    }
  }
  mark();
  return first;
}

Footprint::Page& Footprint::page(uint64_t number) {
  const std::lock_guard lock(mutex_);
  auto& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

}  // namespace ridge::vm::observe
