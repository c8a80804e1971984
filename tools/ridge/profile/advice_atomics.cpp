// Advice on reductions and atomics whose lanes take turns.
#include <algorithm>

#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "profile/replay.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr double kOneAddress = 1.5;          // addresses of a warp, on average
constexpr uint64_t kSmallArray = 32 * 1024;  // bytes: it fits shared memory
constexpr double kShuffles = 10;             // instructions that add up a warp's values
constexpr uint64_t kSectorBytes = 32;

struct Places {
  double each = 0;  // different addresses of an access, on average
  Trial cost;       // as it is, and if equal addresses were put together first
};

Places places_of(const Instruction& one, bool shared) {
  Places places;
  double warps = 0;
  const auto cost = [&](const Access& access) {
    if (!shared) return double(atomic_sectors_of(access));
    return double(shared_wavefronts_of(access, service_of(one)));
  };
  for (const Access& access : (shared ? one.seen_shared : one.seen_global).sample) {
    const Access fewer = once_a_place(access);
    const double weight = double(access.warps);
    places.each += double(lanes_of(fewer.mask).size()) * weight;
    places.cost += {cost(access) * weight, cost(fewer) * weight};
    warps += weight;
  }
  if (warps > 0) places.each /= warps;
  return places;
}

// One lane adds for all of them.
Advice put_together(const Case& of, const Instruction& one, const Places& places, bool shared) {
  Advice advice = about(one, Kind::atomic);
  const Work& work = of.work(one);
  advice.part = shared ? Part::shared : Part::atomics;
  advice.counter = shared ? "wavefronts" : "sectors";
  advice.now = shared ? one.counters.wavefronts : one.counters.sectors;
  advice.then = scaled(advice.now, places.cost.ratio());
  const uint32_t together = lanes_a_place(*one.worst);
  advice.brief =
      fmt::format("has {} lanes of a warp add to one address, one after the other", together);
  const double requests =
      double(std::max<uint64_t>(1, shared ? one.counters.shared_requests : one.counters.requests));
  advice.reason = fmt::format(
      "{} lanes of a warp go to one address and take turns: {:.3g} {} per access where {:.3g} "
      "would do",
      together, double(advice.now) / requests, advice.counter, double(advice.then) / requests);
  advice.fix =
      "add up within the warp first (__reduce_add_sync or shuffles); then one lane does it";
  advice.less[advice.part] = work[advice.part] * (1 - places.cost.ratio());
  advice.less[Part::issue] = -kShuffles * work[Part::issue];
  return advice;
}

// Instructions of one line that add to the same few bytes: each block adds up in shared memory, and
// to global memory once, in the end.
std::optional<Advice> in_block_first(const Case& of, const Line& line) {
  Work work;
  uint64_t sectors = 0, lowest = ~0ull, end = 0;
  const Instruction* first = nullptr;
  for (const size_t i : line.instructions) {
    const Instruction& one = of.kernel.instructions[i];
    if (one.action != Action::reduction || one.reach != Reach::global || !one.end) continue;
    if (!first) first = &one;
    work += of.works[i];
    sectors += one.counters.sectors;
    lowest = std::min(lowest, one.lowest);
    end = std::max(end, one.end);
  }
  if (!first || end - lowest > kSmallArray) return std::nullopt;
  const uint64_t then = of.kernel.blocks * ((end - lowest + kSectorBytes - 1) / kSectorBytes);
  if (double(sectors) < kWorthSaying * double(then)) return std::nullopt;
  Advice advice = about(*first, Kind::atomic);
  advice.part = Part::atomics;
  advice.counter = "sectors";
  advice.now = sectors;
  advice.then = then;
  const std::string where = bytes(int64_t(end - lowest));
  const bool one_place = end - lowest <= 8;
  const uint32_t together = lanes_a_place(*first->worst);
  advice.brief = together > 1 ? fmt::format(
                                    "has {} lanes of a warp add to one address, one after "
                                    "the other",
                                    together)
                              : fmt::format("adds to the same {} from all blocks", where);
  advice.reason = fmt::format(
      "all blocks add to the same {}: {} sectors go to the L2, where each address serves one at a "
      "time",
      where, thousands(sectors));
  advice.fix =
      one_place
          ? "add up within the block first (__reduce_add_sync or shuffles, then shared "
            "memory); then one thread of each block does it"
          : "count in an array in shared memory, and let each block add that to global memory "
            "once, in the end";
  advice.less[Part::atomics] = work[Part::atomics] * (1 - double(then) / double(sectors));
  if (one_place) advice.less[Part::issue] = -kShuffles * work[Part::issue];
  else advice.less[Part::shared] = -double(sectors);  // as many turns, at least
  return advice;
}

}  // namespace

void advise_atomics(const Case& of, std::vector<Advice>& out) {
  for (const Line& line : of.kernel.lines) {
    if (auto advice = in_block_first(of, line)) {
      out.push_back(std::move(*advice));
      continue;
    }
    for (const size_t i : line.instructions) {
      const Instruction& one = of.kernel.instructions[i];
      if ((one.action != Action::reduction && one.action != Action::atomic) || !one.worst) continue;
      const bool shared = one.reach == Reach::shared;
      if ((shared ? one.seen_shared : one.seen_global).sample.empty()) continue;
      const Places places = places_of(one, shared);
      if (places.each <= kOneAddress && places.cost.now > kWorthSaying * places.cost.then)
        out.push_back(put_together(of, one, places, shared));
    }
  }
}

}  // namespace ridge::tools::profile
