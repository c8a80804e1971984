// Advice on shared memory: layouts, copies of counters, and values kept in registers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/occupancy.h"
#include "profile/advice.h"
#include "profile/geometry.h"
#include "profile/replay.h"
#include "profile/words.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr double kFewer = 0.9;  // wavefronts that are left, at most

bool adds(const Instruction& one) {
  return one.action == Action::reduction || one.action == Action::atomic;
}

std::string name_of(const SharedArray& array) {
  return array.name.empty() ? fmt::format("the array at byte {} of shared memory", array.at)
                            : array.name;
}

// In the elements of the array, as the user would write it.
std::string layout_text(const SharedArray& array, const Layout& layout, uint32_t element) {
  uint64_t row = layout.row, more = layout.more;
  if (layout.swizzled)
    return fmt::format(
        "exchange the columns of {} by row: in rows of {} elements of {} bytes, column c of row r "
        "goes to c ^ (r % {})",
        name_of(array), row / more, more, row / more);
  const char* unit = "bytes";
  if (element && row % element == 0 && more % element == 0)
    row /= element, more /= element, unit = "elements";
  return fmt::format("pad the rows of {}: {} {} in place of {} (index i becomes i + i / {}{})",
                     name_of(array), row + more, unit, row, row,
                     more == 1 ? "" : fmt::format(" * {}", more));
}

// The instruction that gains most, and what all of them gain, as advice.
Advice conflict_advice(const Case& of, const LayoutTrial& trial) {
  const Instruction* worst = nullptr;
  Work less;
  for (const auto& [one, each] : trial.of) {
    less[Part::shared] += of.work(*one)[Part::shared] * (1 - each.ratio());
    if (!worst || each.now - each.then > trial.of.at(worst).now - trial.of.at(worst).then)
      worst = one;
  }
  Advice advice = about(*worst, Kind::bank_conflict);
  advice.part = Part::shared;
  advice.less = less;
  advice.counter = "wavefronts";
  advice.now = scaled(1, trial.wavefronts.now);
  advice.then = scaled(1, trial.wavefronts.then);
  const Access& access = *worst->worst;
  const Conflict conflict = worst_conflict(access);
  const Counters& c = worst->counters;
  const uint64_t least = std::max<uint64_t>(
      1, (c.wavefronts - c.conflicts) / std::max<uint64_t>(1, c.shared_requests));
  advice.brief =
      fmt::format("is {} {}-way bank conflict: {} turns where {} would do", article(conflict.ways),
                  conflict.ways, access.cost ? access.cost : wavefronts_of(access), least);
  advice.reason = fmt::format("lanes {} hit bank {} in different words; {}-way conflict",
                              lanes_text(conflict.lanes), conflict.bank, conflict.ways);
  if (access.warps && access.warps * 2 < c.shared_requests)
    advice.reason += fmt::format(" (the worst of them; {} of {} accesses)", thousands(access.warps),
                                 thousands(c.shared_requests));
  return advice;
}

// Counters that data choose: more copies of them, side by side, so that lanes seldom meet.
std::optional<Advice> more_copies(const Case& of, const SharedArray& array) {
  std::optional<Advice> best;
  double saved = 0;
  const Kernel& kernel = of.kernel;
  for (const uint32_t copies : {2u, 4u, 8u, 16u, 32u}) {
    const LayoutTrial trial = try_copies(kernel, array, copies);
    const auto shared = int64_t(kernel.resources.static_shared + kernel.resources.dynamic_shared +
                                trial.more_bytes);
    const Occupancy then =
        occupancy(of.gpu, {int(kernel.block.count()), int(kernel.resources.registers), shared});
    if (then.fraction < std::min(0.5, kernel.occupancy.fraction) ||
        (!kernel.resources.dynamic_shared && shared > kSharedPerBlock))
      break;
    Trial counting;
    Work less;
    const Instruction* worst = nullptr;
    for (const auto& [one, each] : trial.of) {
      const Work& work = of.work(*one);
      less[Part::shared] += work[Part::shared] * (1 - each.ratio());
      if (adds(*one)) {
        counting += each;
        if (!worst || each.now > trial.of.at(worst).now) worst = one;
      } else {
        for (const Part part : {Part::issue, Part::latency})
          less[part] -= work[part] * (copies - 1);
      }
    }
    // Another doubling has to pay for the memory that it takes.
    constexpr double kWorthDoubling = 0.02;
    if (!worst || counting.then > kFewer * counting.now || of.saved(less) < saved + kWorthDoubling)
      continue;
    saved = of.saved(less);
    Advice advice = about(*worst, Kind::bank_conflict);
    advice.part = Part::shared;
    advice.less = less;
    advice.counter = "wavefronts";
    advice.now = scaled(1, counting.now);
    advice.then = scaled(1, counting.then);
    const double each = counting.now / std::max(1.0, double(worst->counters.shared_requests));
    advice.brief = fmt::format(
        "has lanes that meet in a bank, as the data decide: {:.1f} turns per access", each);
    advice.reason = fmt::format(
        "the data decide which bank each lane goes to; on average {:.1f} of 32 lanes meet in one",
        each);
    advice.fix = fmt::format(
        "keep {} copies of {} side by side: element i of copy k at i * {} + k, k = threadIdx.x % "
        "{}; add the copies up in the end",
        copies, name_of(array), copies, copies);
    best = std::move(advice);
  }
  return best;
}

// Whether most conflicts of the array come from addresses that follow from data.
bool is_by_data(const Kernel& kernel, const SharedArray& array) {
  double by_data = 0, all = 0;
  for (const Instruction& one : kernel.instructions) {
    if (!one.counters.conflicts) continue;
    if (std::ranges::none_of(one.seen_shared.sample, [&](const Access& access) {
          const uint64_t at = access.address[lanes_of(access.mask).front()];
          return at >= array.at && at < array.at + array.bytes;
        }))
      continue;
    all += double(one.counters.conflicts);
    if (is_data_dependent(one.seen_shared)) by_data += double(one.counters.conflicts);
  }
  return by_data * 4 > all;
}

void add_conflicts(const Case& of, std::vector<Advice>& out) {
  if (!of.kernel.total.conflicts) return;
  for (const SharedArray& array : arrays_of(of.kernel)) {
    if (is_by_data(of.kernel, array)) {
      if (auto advice = more_copies(of, array)) out.push_back(std::move(*advice));
      continue;
    }
    const auto trial = best_layout(of.kernel, array, of.gpu);
    if (!trial || trial->wavefronts.ratio() > kFewer) continue;
    Advice advice = conflict_advice(of, *trial);
    uint32_t element = 16;
    for (const auto& [one, each] : trial->of) element = std::min(element, std::max(1u, one->bytes));
    advice.fix = layout_text(array, trial->layout, element);
    if (trial->more_bytes)
      advice.fix += fmt::format("; it takes {} more", bytes(int64_t(trial->more_bytes)));
    out.push_back(std::move(advice));
  }
}

// What a line loads from shared memory for its multiply-adds.
struct Loads {
  double wavefronts = 0, conflicts = 0, fmas = 0;
  double readers = INFINITY;  // threads that read the same word at the same time, at least
  Work work;
  const Instruction* costliest = nullptr;
};

Loads loads_of(const Case& of, const Line& line) {
  Loads loads;
  for (const size_t i : line.instructions) {
    const Instruction& one = of.kernel.instructions[i];
    const Counters& c = one.counters;
    if (one.ptx.starts_with("fma")) loads.fmas += double(c.warps);
    if (one.reach != Reach::shared || one.action != Action::load || !c.wavefronts) continue;
    loads.work += of.works[i];
    loads.wavefronts += double(c.wavefronts);
    loads.conflicts += double(c.conflicts);
    loads.readers = std::min(loads.readers, readers_per_word(one.seen_shared));
    if (!loads.costliest || c.wavefronts > loads.costliest->counters.wavefronts)
      loads.costliest = &one;
  }
  return loads;
}

// Each thread takes tile × tile outputs; the block has as many outputs as before, and fewer
// threads.
Work less_by_tile(const Case& of, const Loads& loads, uint32_t tile) {
  constexpr double kInFlight = 4;  // loads of one thread that wait together
  Work less;
  for (const Part part : {Part::issue, Part::latency})
    less[part] = loads.work[part] * (1 - 1.0 / tile);
  less[Part::shared] = loads.wavefronts - (loads.wavefronts - loads.conflicts) / tile;
  // Fewer threads wait for what the block loads from global memory.
  const double longer = std::max(1.0, tile * tile / kInFlight) - 1;
  for (size_t i = 0; i < of.works.size(); ++i) {
    const Instruction& one = of.kernel.instructions[i];
    if (one.reach == Reach::global && one.action == Action::load)
      less[Part::latency] -= of.works[i][Part::latency] * longer;
  }
  return less;
}

// A thread that computes several outputs uses each value that it has loaded several times.
void add_register_tile(const Case& of, std::vector<Advice>& out) {
  constexpr double kLoadsPerFma = 0.9, kReaders = 4;
  const uint64_t threads = of.kernel.block.count();
  for (const Line& line : of.kernel.lines) {
    const Loads loads = loads_of(of, line);
    const double wavefronts = loads.wavefronts - loads.conflicts;
    if (!loads.costliest || loads.fmas == 0 || wavefronts < kLoadsPerFma * loads.fmas ||
        loads.readers < kReaders)
      continue;
    uint32_t tile = 2;
    if (threads >= 16 * 32 &&
        of.saved(less_by_tile(of, loads, 4)) > of.saved(less_by_tile(of, loads, 2)))
      tile = 4;
    Advice advice = about(*loads.costliest, Kind::register_tile);
    advice.part = Part::shared;
    advice.counter = "wavefronts";
    advice.now = scaled(1, loads.wavefronts);
    advice.then = scaled(1, wavefronts / tile);
    advice.less = less_by_tile(of, loads, tile);
    const double each = loads.wavefronts / loads.fmas;
    advice.brief =
        fmt::format("has {:.1f} wavefronts of shared memory for each multiply-add", each);
    advice.reason = fmt::format(
        "each multiply-add loads its operands from shared memory ({:.1f} wavefronts), and {:.0f} "
        "threads or more read each word",
        each, loads.readers);
    advice.fix = fmt::format(
        "let each thread compute {0}×{0} outputs in registers: {1} loads serve {2} multiply-adds, "
        "and {3} threads do the work of {4}; pad a tile where the lanes of a warp then read "
        "several rows",
        tile, 2 * tile, tile * tile, std::max<uint64_t>(1, threads / (tile * tile)), threads);
    out.push_back(std::move(advice));
  }
}

}  // namespace

void advise_shared(const Case& of, std::vector<Advice>& out) {
  add_conflicts(of, out);
  add_register_tile(of, out);
}

}  // namespace ridge::tools::profile
