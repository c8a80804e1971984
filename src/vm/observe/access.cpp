#include "vm/observe/access.h"

#include <algorithm>
#include <bit>

namespace ridge::vm::observe {
namespace {

template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(uint32_t(std::countr_zero(mask)));
}

// Whether lane i's address is the first one's plus i steps, for all lanes.
template <class T>
bool is_even(const std::array<T, 32>& address, T step) {
  T differences = 0;
  for (uint32_t i = 0; i < 32; ++i) differences |= address[i] - address[0] - T(i) * step;
  return differences == 0;
}

// The addresses of the active lanes in ascending order.
struct Sorted {
  std::array<uint64_t, 32> at;
  uint32_t count = 0;
  explicit Sorted(const Access& a) {
    bool ordered = true;
    each_lane(a.mask, [&](uint32_t lane) {
      at[count] = a.address[lane];
      ordered &= count == 0 || at[count - 1] <= at[count];
      ++count;
    });
    if (!ordered) std::sort(at.begin(), at.begin() + count);
  }
};

uint32_t pieces(const Sorted& sorted, uint32_t bytes, uint32_t unit) {
  uint32_t count = 0;
  uint64_t next = 0;  // the first piece not counted yet
  for (uint32_t k = 0; k < sorted.count; ++k) {
    const uint64_t first = std::max(sorted.at[k] / unit, next);
    const uint64_t end = (sorted.at[k] + bytes - 1) / unit + 1;
    if (end > first) {
      count += uint32_t(end - first);
      next = end;
    }
  }
  return count;
}

// A unit is what a lane's access takes: a word, or two or four neighbours in as many banks.
class Units {
 public:
  explicit Units(uint32_t bytes)
      : shift_(bytes <= 4   ? 2
               : bytes == 8 ? 3
                            : 4),
        places_(kLineBytes >> shift_) {}

  // Whether the lanes' units all fit one wavefront.
  bool fit(const SharedAccess& a, uint32_t mask) const {
    std::array<uint32_t, kBanks> holds;
    uint32_t taken = 0;
    while (mask) {
      const auto lane = size_t(std::countr_zero(mask));
      mask &= mask - 1;
      const uint32_t unit = a.address[lane] >> shift_, place = unit & (places_ - 1);
      if (taken >> place & 1) {
        if (holds[place] != unit) return false;
      } else {
        taken |= 1u << place;
        holds[place] = unit;
      }
    }
    return true;
  }
  // The most lanes that want something of one place.
  uint32_t most_lanes(const SharedAccess& a, uint32_t mask) const {
    std::array<uint8_t, kBanks> of_place = {};
    uint32_t most = 0;
    each_lane(mask, [&](uint32_t lane) {
      most = std::max<uint32_t>(most, ++of_place[(a.address[lane] >> shift_) & (places_ - 1)]);
    });
    return most;
  }
  // The most units that one place has to give.
  uint32_t most(const SharedAccess& a, uint32_t mask) const {
    if (fit(a, mask)) return mask != 0;
    std::array<uint32_t, 32> units;
    std::array<uint8_t, kBanks> of_place = {};
    uint32_t count = 0, most = 0;
    each_lane(mask, [&](uint32_t lane) {
      const uint32_t unit = a.address[lane] >> shift_;
      uint32_t k = count;  // from the end: neighbours usually share a unit
      while (k > 0 && units[k - 1] != unit) --k;
      if (k > 0) return;
      units[count++] = unit;
      most = std::max<uint32_t>(most, ++of_place[unit & (places_ - 1)]);
    });
    return most;
  }

 private:
  uint32_t shift_, places_;
};

// Two parts of a wide load are served together where each lane's neighbour, or each lane's next but
// one in its four, is off or reads the same.
bool is_served_together(const SharedAccess& a, uint32_t mask) {
  for (const uint32_t apart : {1u, 2u}) {
    bool all = true;
    each_lane(mask, [&](uint32_t lane) {
      const uint32_t other = lane ^ apart;
      all &= !(mask >> other & 1) || a.address[other] == a.address[lane];
    });
    if (all) return true;
  }
  return false;
}

}  // namespace

GlobalCost global_cost(const Access& a) {
  if (!a.mask) return {};
  if (a.mask == ~0u && (is_even<uint64_t>(a.address, a.bytes) || is_even<uint64_t>(a.address, 0))) {
    const uint64_t first = a.address[0], end = a.address[31] + a.bytes;
    return {uint32_t((end - 1) / kSectorBytes - first / kSectorBytes + 1),
            uint32_t((end - 1) / kLineBytes - first / kLineBytes + 1), uint32_t(end - first)};
  }
  const Sorted sorted(a);
  return {pieces(sorted, a.bytes, kSectorBytes), pieces(sorted, a.bytes, kLineBytes),
          pieces(sorted, a.bytes, 1)};
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
    sectors += pieces(Sorted(turn), turn.bytes, kSectorBytes);
  }
  return sectors;
}

SharedCost shared_cost(const SharedAccess& a, Service service) {
  if (a.mask == 0) return {};
  const auto lanes = uint32_t(std::popcount(a.mask));
  const uint32_t least = (lanes * a.bytes + kLineBytes - 1) / kLineBytes;
  const bool plain = service == Service::load || service == Service::store;
  if (plain && a.mask == ~0u && is_even<uint32_t>(a.address, a.bytes) && a.bytes >= 4)
    return {least, 0, least, least};
  const Units units(a.bytes);
  const uint32_t width = a.bytes <= 4 ? 32 : a.bytes == 8 ? 16 : 8;  // lanes of a part
  const auto turns = [&](uint32_t mask) {
    if (!mask || service == Service::spin) return uint32_t(mask != 0);
    return plain || service == Service::counting ? units.most(a, mask) : units.most_lanes(a, mask);
  };
  const bool joins = service == Service::load && is_served_together(a, a.mask);
  SharedCost cost;
  uint32_t parts = 0;
  for (uint32_t first = 0; first < 32; first += 2 * width) {
    const uint32_t part = width == 32 ? ~0u : (1u << width) - 1;
    const uint32_t low = a.mask & part << first;
    const uint32_t high = width == 32 ? 0 : a.mask & part << (first + width);
    const uint32_t apart = turns(low) + turns(high), together = high ? turns(low | high) : apart;
    cost.wavefronts += joins ? together : apart;
    parts += joins ? (low | high) != 0 : (low != 0) + (high != 0);
    // It looks at the lanes of these two parts alone.
    const bool join_here = service == Service::load && is_served_together(a, low | high);
    cost.by_line += join_here ? together : apart;
  }
  cost.conflicts = cost.wavefronts - parts;
  const uint32_t passes = service == Service::compare || service == Service::spin ? 2 : 1;
  cost.wavefronts *= passes;
  cost.by_line *= passes;
  cost.ideal = std::min(cost.by_line, passes * least);
  return cost;
}

}  // namespace ridge::vm::observe
