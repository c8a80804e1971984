#include "vm/observe/access.h"

#include <algorithm>
#include <bit>

namespace ridge::vm::observe {
namespace {

template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(uint32_t(std::countr_zero(mask)));
}

// Different pieces of `unit` bytes that the access touches. A lane touches at most two pieces of a
// sector or more.
uint32_t pieces(const Access& a, uint32_t unit) {
  std::array<uint64_t, 64> seen;
  uint32_t count = 0;
  each_lane(a.mask, [&](uint32_t lane) {
    const uint64_t last = (a.address[lane] + a.bytes - 1) / unit;
    for (uint64_t piece = a.address[lane] / unit; piece <= last; ++piece) {
      uint32_t k = count;  // from the end: neighbours usually share a piece
      while (k > 0 && seen[k - 1] != piece) --k;
      if (k == 0) seen[count++] = piece;
    }
  });
  return count;
}

uint32_t different_bytes(const Access& a) {
  std::array<uint64_t, 32> sorted;
  uint32_t count = 0;
  each_lane(a.mask, [&](uint32_t lane) { sorted[count++] = a.address[lane]; });
  std::sort(sorted.begin(), sorted.begin() + count);
  uint64_t used = 0, end = 0;
  for (uint32_t k = 0; k < count; ++k) {
    used += sorted[k] + a.bytes - std::max(sorted[k], std::min(end, sorted[k] + a.bytes));
    end = std::max(end, sorted[k] + a.bytes);
  }
  return uint32_t(used);
}

// The most different words that one bank has to give to the lanes of `mask`.
uint32_t words_of_a_bank(const Access& a, uint32_t mask) {
  std::array<uint64_t, 128> words;
  std::array<uint8_t, kBanks> of_bank = {};
  uint32_t count = 0, most = 0;
  each_lane(mask, [&](uint32_t lane) {
    const uint64_t last = (a.address[lane] + a.bytes - 1) / 4;
    for (uint64_t word = a.address[lane] / 4; word <= last; ++word) {
      uint32_t k = count;
      while (k > 0 && words[k - 1] != word) --k;
      if (k > 0) continue;
      words[count++] = word;
      most = std::max<uint32_t>(most, ++of_bank[word % kBanks]);
    }
  });
  return most;
}

// One word a lane, side by side or all the same: what most accesses are.
bool is_plain(const Access& a) {
  if (a.mask != ~0u || a.bytes != 4) return false;
  const uint64_t step = a.address[1] - a.address[0];
  if (step != 4 && step != 0) return false;
  for (uint32_t lane = 2; lane < 32; ++lane)
    if (a.address[lane] - a.address[lane - 1] != step) return false;
  return true;
}

}  // namespace

GlobalCost global_cost(const Access& a) {
  if (is_plain(a)) {
    const uint64_t first = a.address[0], end = a.address[31] + 4;
    return {uint32_t((end - 1) / kSectorBytes - first / kSectorBytes + 1),
            uint32_t((end - 1) / kLineBytes - first / kLineBytes + 1), uint32_t(end - first)};
  }
  return {pieces(a, kSectorBytes), pieces(a, kLineBytes), different_bytes(a)};
}

uint32_t atomic_sectors(const Access& access) {
  uint32_t sectors = 0;
  Access turn = access;
  for (uint32_t left = access.mask; left; left &= ~turn.mask) {
    turn.mask = 0;
    each_lane(left, [&](uint32_t lane) {
      bool taken = false;
      each_lane(turn.mask,
                [&](uint32_t other) { taken |= access.address[other] == access.address[lane]; });
      if (!taken) turn.mask |= 1u << lane;
    });
    sectors += pieces(turn, kSectorBytes);
  }
  return sectors;
}

SharedCost shared_cost(const Access& a) {
  if (a.mask == 0) return {};
  if (is_plain(a)) return {1, 1};
  const uint32_t width = a.bytes <= 4 ? 32 : a.bytes == 8 ? 16 : 8;  // lanes of a part
  if (width == 32) return {words_of_a_bank(a, a.mask), 1};
  SharedCost cost;
  for (uint32_t first = 0; first < 32; first += 2 * width) {
    const uint32_t part = width == 16 ? 0xffffu : 0xffu;
    const uint32_t low = a.mask & part << first, high = a.mask & part << (first + width);
    if (!(low | high)) continue;
    if (words_of_a_bank(a, low | high) == 1) {
      ++cost.wavefronts, ++cost.ideal;
      continue;
    }
    for (const uint32_t mask : {low, high})
      if (mask) cost.wavefronts += words_of_a_bank(a, mask), ++cost.ideal;
  }
  return cost;
}

}  // namespace ridge::vm::observe
