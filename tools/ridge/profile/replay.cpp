#include "profile/replay.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "core/occupancy.h"
#include "profile/geometry.h"

namespace ridge::tools::profile {
namespace {

using vm::observe::Service;

constexpr uint64_t kBankBytes = 128;   // all banks side by side
constexpr uint64_t kShortestRow = 32;  // bytes; shorter ones are elements of an array of structures
constexpr uint64_t kMostPadding = 128;
constexpr size_t kRowsTried = 8, kAccessesTried = 48;
constexpr double kAsGood = 1.02;  // layouts that differ by less are equally good

double wavefronts(const Access& access, Service service) {
  return double(shared_wavefronts_of(access, service));
}

uint64_t first_address(const Access& access) {
  return access.address[size_t(std::countr_zero(access.mask | 1u << 31))];
}

bool is_in(const Access& access, const SharedArray& array) {
  const uint64_t at = first_address(access);
  return at >= array.at && at < array.at + array.bytes;
}

template <class Move>
Access moved(const Access& access, Move move) {
  Access out = access;
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const auto lane = uint32_t(std::countr_zero(left));
    out.address[lane] = move(lane, access.address[lane]);
  }
  return out;
}

struct Mean {
  double sum = 0, squares = 0, weight = 0;

  void add(double value, double times) {
    sum += value * times;
    squares += value * value * times;
    weight += times;
  }
  double spread() const {  // the variance in units of the squared mean
    return sum > 0 ? squares * weight / (sum * sum) - 1 : 0;
  }
};

// What an instruction's accesses to an array cost, as they are and after a change.
template <class Move>
Trial try_shared(const Instruction& one, const SharedArray& array, size_t most, Move move) {
  Mean everywhere, now, then;
  const Service service = service_of(one);
  const size_t step = std::max<size_t>(1, one.seen_shared.sample.size() / most);
  for (size_t i = 0; i < one.seen_shared.sample.size(); i += step) {
    const Access& access = one.seen_shared.sample[i];
    const double cost = wavefronts(access, service), weight = double(access.warps);
    everywhere.add(cost, weight);
    if (!is_in(access, array)) continue;
    now.add(cost, weight);
    then.add(wavefronts(moved(access, move), service), weight);
  }
  if (now.sum == 0) return {};
  // Of what was counted, the part that goes to the array. What it becomes follows from the sample's
  // mean, or from the ratio of two means where the first one varies less by itself.
  const double counted = double(one.counters.wavefronts) * now.sum / everywhere.sum;
  const double requests = double(one.counters.shared_requests) * now.weight / everywhere.weight;
  const bool steady = then.spread() < now.spread();
  return {counted, steady ? then.sum / then.weight * requests : counted * then.sum / now.sum};
}

template <class Move>
LayoutTrial try_all(const Kernel& kernel, const SharedArray& array, size_t most, Move move) {
  LayoutTrial trial;
  for (const Instruction& one : kernel.instructions) {
    const Trial each = try_shared(one, array, most, move);
    if (each.now == 0) continue;
    trial.of[&one] = each;
    trial.wavefronts += each;
  }
  return trial;
}

LayoutTrial try_layout(const Kernel& kernel, const SharedArray& array, const Layout& layout,
                       size_t most) {
  LayoutTrial trial = try_all(kernel, array, most, [&](uint32_t, uint64_t at) {
    return array.at + layout.place(at - array.at);
  });
  trial.layout = layout;
  if (!layout.swizzled) trial.more_bytes = array.bytes / layout.row * layout.more;
  return trial;
}

// Distances that may be a row's: between the starts of the lanes' runs, between neighbouring lanes,
// and between neighbouring warps of a block.
std::vector<uint64_t> rows_of(const Kernel& kernel, const SharedArray& array) {
  std::map<uint64_t, uint64_t> found;  // distance → how often
  const auto note = [&](uint64_t from, uint64_t to, uint64_t weight) {
    const uint64_t distance = from < to ? to - from : from - to;
    if (distance >= kShortestRow && distance <= array.bytes / 2) found[distance] += weight;
  };
  for (const Instruction& one : kernel.instructions) {
    for (const Access& access : one.seen_shared.sample) {
      if (!is_in(access, array)) continue;
      const std::vector<uint64_t> starts = run_starts(access);
      for (size_t i = 1; i < starts.size(); ++i) note(starts[i - 1], starts[i], access.warps);
    }
    const Access* neighbour = nullptr;
    for (const auto& [warp, access] : one.seen_shared.of_block) {
      if (!is_in(access, array)) continue;
      if (neighbour) note(first_address(*neighbour), first_address(access), 1);
      neighbour = &access;
    }
  }
  std::vector<std::pair<uint64_t, uint64_t>> sorted(found.begin(), found.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<uint64_t> rows;
  for (const auto& [distance, often] : sorted)
    if (rows.size() < kRowsTried) rows.push_back(distance);
  return rows;
}

// The widest access to an array: nothing may break its alignment.
uint32_t widest_of(const Kernel& kernel, const SharedArray& array) {
  uint32_t widest = 1;
  for (const Instruction& one : kernel.instructions)
    for (const Access& access : one.seen_shared.sample)
      if (is_in(access, array)) widest = std::max(widest, access.bytes);
  return widest;
}

bool fits(const Kernel& kernel, const GpuSpec& gpu, uint64_t more) {
  const auto shared =
      int64_t(kernel.resources.static_shared + kernel.resources.dynamic_shared + more);
  const Occupancy then =
      occupancy(gpu, {int(kernel.block.count()), int(kernel.resources.registers), shared});
  return then.blocks_per_sm > 0 && then.fraction >= std::min(0.5, kernel.occupancy.fraction);
}

std::optional<LayoutTrial> best_of_rows(const Kernel& kernel, const SharedArray& array,
                                        const GpuSpec& gpu, const std::vector<uint64_t>& rows) {
  const uint64_t widest = widest_of(kernel, array);
  std::vector<Layout> layouts;
  for (const uint64_t row : rows) {
    if (row % widest) continue;
    for (uint64_t more = widest; more <= kMostPadding; more += widest)
      layouts.push_back({false, row, more});
    const uint64_t element = std::max<uint64_t>(widest, 4);
    if (std::has_single_bit(row) && row / element >= 8) layouts.push_back({true, row, element});
  }
  std::optional<LayoutTrial> best;
  for (const Layout& layout : layouts) {
    LayoutTrial trial = try_layout(kernel, array, layout, kAccessesTried);
    if (!fits(kernel, gpu, trial.more_bytes) || trial.wavefronts.then >= trial.wavefronts.now)
      continue;
    // Padding is easier to write than a swizzle.
    const auto effort = [](const LayoutTrial& t) {
      return std::pair(t.layout.swizzled, t.more_bytes);
    };
    const bool better = !best || trial.wavefronts.then * kAsGood < best->wavefronts.then;
    const bool as_good = best && trial.wavefronts.then < best->wavefronts.then * kAsGood;
    if (better || (as_good && effort(trial) < effort(*best))) best = std::move(trial);
  }
  return best;
}

}  // namespace

Trial& Trial::operator+=(const Trial& other) {
  now += other.now;
  then += other.then;
  return *this;
}

Service service_of(const Instruction& one) {
  if (one.matrices) return Service::store;  // rows of eight lanes at a time
  if (one.action == Action::load) return Service::load;
  if (one.action == Action::store || one.action == Action::copy) return Service::store;
  // How an atomic is done is seen from what it cost.
  Service best = Service::atomic;
  double closest = INFINITY;
  for (const Service service :
       {Service::atomic, Service::counting, Service::compare, Service::spin}) {
    double cost = 0, warps = 0;
    for (const Access& access : one.seen_shared.sample) {
      cost += wavefronts(access, service) * double(access.warps);
      warps += double(access.warps);
    }
    const double counted = warps * double(one.counters.wavefronts) /
                           std::max(1.0, double(one.counters.shared_requests));
    if (std::abs(cost - counted) < closest) closest = std::abs(cost - counted), best = service;
  }
  return best;
}

bool is_data_dependent(const Seen& seen) {
  constexpr size_t kManyDistances = 12;
  std::set<std::vector<uint64_t>> shapes;
  size_t irregular = 0;
  for (const Access& access : seen.sample) {
    std::vector<uint64_t> shape = {access.mask};
    std::set<uint64_t> distances;
    uint64_t before = first_address(access);
    for (const uint32_t lane : lanes_of(access.mask)) {
      shape.push_back(access.address[lane] - before);
      distances.insert(access.address[lane] - before);
      before = access.address[lane];
    }
    irregular += distances.size() > kManyDistances;
    shapes.insert(std::move(shape));
  }
  return shapes.size() > std::max<size_t>(2, seen.sample.size() / 2) ||
         irregular * 2 > seen.sample.size();
}

uint64_t Layout::place(uint64_t offset) const {
  if (!swizzled) return offset + offset / row * more;
  const uint64_t columns = row / more;
  const uint64_t line = offset / row, column = offset % row / more;
  return line * row + (column ^ line % columns) * more + offset % more;
}

std::vector<SharedArray> arrays_of(const Kernel& kernel) {
  std::vector<SharedArray> arrays;
  for (const SharedArray& array : kernel.arrays) {
    if (!array.name.empty()) {
      arrays.push_back(array);
      continue;
    }
    std::map<uint64_t, uint64_t> pieces;  // begin → end
    for (const Instruction& one : kernel.instructions) {
      uint64_t begin = ~0ull, end = 0;
      for (const Access& access : one.seen_shared.sample) {
        if (!is_in(access, array)) continue;
        for (const uint32_t lane : lanes_of(access.mask)) {
          begin = std::min(begin, access.address[lane]);
          end = std::max(end, access.address[lane] + access.bytes);
        }
      }
      if (begin < end) pieces[begin] = std::max(pieces[begin], end);
    }
    for (const auto& [begin, end] : pieces)
      if (!arrays.empty() && arrays.back().name.empty() &&
          begin < arrays.back().at + arrays.back().bytes)
        arrays.back().bytes = std::max(arrays.back().bytes, end - arrays.back().at);
      else arrays.push_back({"", begin, end - begin});
  }
  return arrays;
}

LayoutTrial try_layout(const Kernel& kernel, const SharedArray& array, const Layout& layout) {
  return try_layout(kernel, array, layout, ~size_t(0));
}

std::optional<LayoutTrial> best_layout(const Kernel& kernel, const SharedArray& array,
                                       const GpuSpec& gpu) {
  for (const Instruction& one : kernel.instructions)
    if ((one.counters.wavefronts && one.seen_shared.sample.empty() && !one.merged_into) ||
        one.reach == Reach::bulk || one.reach == Reach::cluster)
      return std::nullopt;
  std::optional<LayoutTrial> best = best_of_rows(kernel, array, gpu, rows_of(kernel, array));
  // Where no row helps, something can still be put behind every 32 words.
  if (!best) best = best_of_rows(kernel, array, gpu, {kBankBytes});
  if (best) *best = try_layout(kernel, array, best->layout);
  return best;
}

LayoutTrial try_copies(const Kernel& kernel, const SharedArray& array, uint32_t copies) {
  const uint64_t element = widest_of(kernel, array);
  LayoutTrial trial = try_all(kernel, array, ~size_t(0), [&](uint32_t lane, uint64_t at) {
    const uint64_t offset = at - array.at;
    return array.at + (offset / element * copies + lane % copies) * element + offset % element;
  });
  // What sets the counters to zero and adds them up goes over all copies.
  trial.wavefronts = {};
  for (auto& [one, each] : trial.of) {
    const bool counts = one->action == Action::reduction || one->action == Action::atomic;
    if (!counts) each.then = each.now * copies;
    trial.wavefronts += each;
  }
  trial.more_bytes = array.bytes * (copies - 1);
  return trial;
}

namespace {

// The accesses of a block, each thread's address by its number in the block.
std::vector<Access> swapped(const std::map<uint32_t, Access>& of_block, const Size& block) {
  const uint64_t threads = uint64_t(block.x) * block.y;
  std::vector<std::optional<uint64_t>> address(threads);
  uint32_t bytes = 0;
  for (const auto& [warp, access] : of_block) {
    bytes = access.bytes;
    for (const uint32_t lane : lanes_of(access.mask))
      if (const uint64_t thread = warp * 32ull + lane; thread < threads)
        address[thread] = access.address[lane];
  }
  std::vector<Access> out((threads + 31) / 32);
  for (uint64_t thread = 0; thread < threads; ++thread) {
    if (!address[thread]) continue;
    const uint64_t x = thread % block.x, y = thread / block.x, then = x * block.y + y;
    Access& access = out[then / 32];
    access.bytes = bytes;
    access.mask |= 1u << then % 32;
    access.address[then % 32] = *address[thread];
  }
  return out;
}

}  // namespace

std::optional<SwapTrial> try_swap(const Kernel& kernel) {
  if (kernel.block.x < 2 || kernel.block.y < 2 || kernel.block.z > 1) return std::nullopt;
  SwapTrial trial;
  for (const Instruction& one : kernel.instructions) {
    const bool shared = one.reach == Reach::shared;
    const auto& of_block = (shared ? one.seen_shared : one.seen_global).of_block;
    if (one.reach != Reach::global && !shared) continue;
    if (one.counters.requests + one.counters.shared_requests == 0) continue;
    if (of_block.size() != kernel.warps_per_block()) return std::nullopt;
    const Service service = service_of(one);
    const auto cost = [&](const Access& access) {
      return shared ? wavefronts(access, service) : double(sectors_of(access));
    };
    Trial each, lines;
    for (const auto& [warp, access] : of_block) {
      each.now += cost(access);
      lines.now += double(cache_lines_of(access));
    }
    for (const Access& access : swapped(of_block, kernel.block)) {
      if (!access.mask) continue;
      each.then += cost(access);
      lines.then += double(cache_lines_of(access));
    }
    if (!shared) trial.lines[&one] = lines;
    (shared ? trial.wavefronts : trial.sectors)[&one] = each;
  }
  return trial;
}

double readers_per_word(const Seen& seen) {
  std::set<uint64_t> words;
  double threads = 0;
  for (const auto& [warp, access] : seen.of_block)
    for (const uint32_t lane : lanes_of(access.mask)) {
      words.insert(access.address[lane]);
      ++threads;
    }
  return words.empty() ? 0 : threads / double(words.size());
}

}  // namespace ridge::tools::profile
