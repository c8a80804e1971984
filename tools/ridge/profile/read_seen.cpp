#include "profile/read_seen.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

namespace ridge::tools::profile {
namespace {

using nlohmann::json;

uint64_t count_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<uint64_t>() : 0;
}

// "ffffffff 4096 4*31": the active lanes, the first one's address, distances in runs.
bool read_lanes(std::istream& text, Access& access) {
  uint64_t at = 0;
  if (!(text >> std::hex >> access.mask >> std::dec >> at)) return false;
  int64_t step = 0;
  uint32_t run = 0;
  bool first = true;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!(access.mask >> lane & 1)) continue;
    if (!first) {
      if (!run) {
        if (!(text >> step)) return false;
        run = 1;
        if (text.peek() == '*') text.ignore() >> run;
      }
      at += uint64_t(step);
      --run;
    }
    first = false;
    access.address[lane] = at;
  }
  return access.mask != 0;
}

}  // namespace

Seen read_seen(const json& object, const char* key, double scale) {
  Seen seen;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return seen;
  const auto bytes = uint32_t(std::max<uint64_t>(1, count_in(*found, "bytes")));
  const auto each = [&](const char* list, auto use) {
    const auto entries = found->find(list);
    if (entries == found->end() || !entries->is_array()) return;
    for (const json& entry : *entries) {
      if (!entry.is_string()) continue;
      std::istringstream text(entry.get<std::string>());
      Access access;
      access.bytes = bytes;
      double head = 0;
      if (text >> head && read_lanes(text, access)) use(head, access);
    }
  };
  each("accesses", [&](double weight, Access& access) {
    access.warps = uint64_t(std::max(1.0, std::round(weight * scale)));
    seen.sample.push_back(access);
  });
  each("block",
       [&](double warp, const Access& access) { seen.of_block.emplace(uint32_t(warp), access); });
  seen.requests = count_in(*found, "requests");
  seen.moved = count_in(*found, "moved");
  seen.once = count_in(*found, "once");
  return seen;
}

void add(Seen& sum, const Seen& more) {
  sum.sample.insert(sum.sample.end(), more.sample.begin(), more.sample.end());
  if (sum.of_block.empty()) sum.of_block = more.of_block;
  sum.requests += more.requests;
  sum.moved += more.moved;
  sum.once += more.once;
}

void read_range(const json& object, Instruction& one) {
  const auto range = object.find("range");
  if (range == object.end() || !range->is_array() || range->size() != 2) return;
  if (!(*range)[0].is_number() || !(*range)[1].is_number()) return;
  one.lowest = (*range)[0].get<uint64_t>();
  one.end = std::max(one.lowest, (*range)[1].get<uint64_t>());
  // Blocks that did not run may touch the same sectors.
  const uint64_t all = (one.end - one.lowest) / 32 + 1;
  one.counters.first_sectors = std::min(one.counters.first_sectors, all);
}

void share_tiles(Kernel& kernel, const Line& line) {
  for (const bool stores : {false, true}) {
    Seen sum;
    const auto each = [&](auto use) {
      for (const size_t i : line.instructions)
        if ((kernel.instructions[i].action == Action::store) == stores)
          use(kernel.instructions[i].seen_global);
    };
    each([&](const Seen& one) {
      sum.requests += one.requests;
      sum.moved += one.moved;
      sum.once += one.once;
    });
    each([&](Seen& one) {
      one.requests = sum.requests;
      one.moved = sum.moved;
      one.once = sum.once;
    });
  }
}

}  // namespace ridge::tools::profile
