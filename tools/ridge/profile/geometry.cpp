#include "profile/geometry.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vm/observe/access.h"

namespace ridge::tools::profile {
namespace {

namespace observe = vm::observe;

constexpr uint64_t kSector = observe::kSectorBytes;
constexpr uint64_t kWord = 4;

observe::Access absolute(const Access& access, uint64_t base) {
  observe::Access out;
  out.mask = access.mask;
  out.bytes = access.bytes;
  for (size_t i = 0; i < 32; ++i) out.address[i] = access.address[i] + base;
  return out;
}

observe::SharedAccess in_shared(const Access& access) {
  observe::SharedAccess out;
  out.mask = access.mask;
  out.bytes = access.bytes;
  for (size_t i = 0; i < 32; ++i) out.address[i] = uint32_t(access.address[i] + access.base);
  return out;
}

}  // namespace

std::vector<uint64_t> run_starts(const Access& access) {
  std::vector<uint64_t> starts;
  uint64_t before = 0;
  for (const uint32_t lane : lanes_of(access.mask)) {
    const uint64_t at = access.address[lane];
    if (starts.empty() || (at != before + access.bytes && at != before)) starts.push_back(at);
    before = at;
  }
  return starts;
}

std::vector<uint32_t> lanes_of(uint32_t mask) {
  std::vector<uint32_t> lanes;
  for (; mask; mask &= mask - 1) lanes.push_back(uint32_t(std::countr_zero(mask)));
  return lanes;
}

std::string lanes_text(const std::vector<uint32_t>& lanes) {
  if (lanes.size() < 4) return fmt::format("{}", fmt::join(lanes, ", "));
  const uint32_t step = lanes[1] - lanes[0];
  for (size_t i = 1; i < lanes.size(); ++i)
    if (lanes[i] - lanes[i - 1] != step)
      return fmt::format("{}, {}, {} … {}", lanes[0], lanes[1], lanes[2], lanes.back());
  if (step == 1) return fmt::format("{} … {}", lanes.front(), lanes.back());
  return fmt::format("{}, {} … {}", lanes[0], lanes[1], lanes.back());
}

uint64_t sectors_of(const Access& access) {
  return observe::global_cost(absolute(access, access.base)).sectors;
}

uint64_t bytes_used(const Access& access) {
  return observe::global_cost(absolute(access, access.base)).bytes_used;
}

uint64_t least_sectors(const Access& access) {
  return (bytes_used(access) + kSector - 1) / kSector;
}

uint64_t cache_lines_of(const Access& access) {
  return observe::global_cost(absolute(access, access.base)).lines;
}

uint64_t atomic_sectors_of(const Access& access) {
  return observe::atomic_sectors(absolute(access, access.base));
}

Access once_a_place(const Access& access) {
  Access out = access;
  std::set<uint64_t> seen;
  for (const uint32_t lane : lanes_of(access.mask))
    if (!seen.insert(access.address[lane]).second) out.mask &= ~(1u << lane);
  return out;
}

uint32_t lanes_a_place(const Access& access) {
  std::map<uint64_t, uint32_t> lanes;
  uint32_t most = 0;
  for (const uint32_t lane : lanes_of(access.mask))
    most = std::max(most, ++lanes[access.address[lane]]);
  return most;
}

std::optional<Stride> stride_of(const Access& access) {
  std::map<int64_t, uint32_t> steps;
  uint32_t pairs = 0;
  for (uint32_t lane = 1; lane < 32; ++lane)
    if ((access.mask >> (lane - 1) & 3) == 3) {
      ++steps[int64_t(access.address[lane] - access.address[lane - 1])];
      ++pairs;
    }
  if (!pairs) return std::nullopt;
  const auto most = std::ranges::max_element(steps, {}, [](const auto& s) { return s.second; });
  if (most->second * 2 < pairs) return std::nullopt;
  return Stride{most->first, most->second == pairs};
}

uint64_t shared_wavefronts_of(const Access& access, observe::Service service) {
  return observe::shared_cost(in_shared(access), service).wavefronts;
}

uint64_t wavefronts_of(const Access& access) {
  return shared_wavefronts_of(access, observe::Service::load);
}

uint64_t least_wavefronts(const Access& access) {
  return observe::shared_cost(in_shared(access), observe::Service::load).ideal;
}

// Wide accesses are served in parts of the warp, so only lanes of one part can be in each other's
// way.
Conflict worst_conflict(const Access& access) {
  const uint32_t width = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;
  Conflict worst;
  for (uint32_t first = 0; first < 32; first += width) {
    std::map<uint32_t, std::set<uint64_t>> words;
    std::map<uint32_t, std::vector<uint32_t>> lanes;
    for (const uint32_t lane : lanes_of(access.mask)) {
      if (lane / width != first / width) continue;
      const uint64_t start = access.base + access.address[lane];
      for (uint64_t w = start / kWord; w <= (start + access.bytes - 1) / kWord; ++w) {
        const auto bank = uint32_t(w % observe::kBanks);
        words[bank].insert(w);
        if (lanes[bank].empty() || lanes[bank].back() != lane) lanes[bank].push_back(lane);
      }
    }
    for (const auto& [bank, different] : words)
      if (different.size() > worst.ways) worst = {bank, uint32_t(different.size()), lanes[bank]};
  }
  return worst;
}

}  // namespace ridge::tools::profile
