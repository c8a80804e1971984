// Advice on loads from and stores to global memory.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "profile/replay.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr uint64_t kSector = 32, kSectorsPerLine = 4;
constexpr double kScattered = 1.25;  // sectors per request, in times of what its bytes need
constexpr double kReused = 4;        // times that a block moves the same bytes

bool is_plain(const Instruction& one) {
  return one.reach == Reach::global && one.counters.sectors && !one.seen_global.sample.empty() &&
         one.action != Action::reduction && one.action != Action::atomic;
}

Part part_of(const Work& work) { return work[Part::l1] > work[Part::l2] ? Part::l1 : Part::l2; }

// How the lanes lie, as a clause.
std::string pattern(const Access& access, const std::optional<Stride>& stride) {
  if (!stride) return "the lanes' addresses have no common distance";
  const uint64_t apart = uint64_t(std::abs(stride->bytes));
  std::string text = apart == 0
                         ? std::string("neighbouring lanes share addresses")
                         : fmt::format("neighbouring lanes are {} bytes apart", thousands(apart));
  if (apart > access.bytes && apart % access.bytes == 0)
    text += fmt::format(" ({} elements of {})", thousands(apart / access.bytes), access.bytes);
  if (!stride->everywhere) text += ", most of them";
  return text;
}

// The sample's sectors, and the sectors that its bytes would fill.
Trial packed(const Instruction& one) {
  Trial trial;
  for (const Access& access : one.seen_global.sample) {
    trial.now += double(sectors_of(access) * access.warps);
    trial.then += double(least_sectors(access) * access.warps);
  }
  return trial;
}

std::string waste(const Instruction& one) {
  const double moved = double(one.counters.sectors * kSector);
  return fmt::format("moves {} the bytes it uses",
                     times(moved / std::max(1.0, double(one.counters.bytes_used))));
}

std::string sectors_text(double now, double then) {
  return fmt::format(
      "a warp touches {:.0f} sectors of 32 bytes where {:.0f} would hold what it uses", now, then);
}

Advice strided(const Case& of, const Instruction& one, Kind kind, double ratio) {
  Advice advice = about(one, kind);
  const Work& work = of.work(one);
  advice.part = part_of(work);
  advice.counter = "sectors";
  advice.now = one.counters.sectors;
  advice.then = scaled(advice.now, ratio);
  advice.brief = waste(one);
  const double requests = std::max(1.0, double(one.counters.requests));
  advice.reason = fmt::format(
      "{}: {}", pattern(*one.worst, stride_of(*one.worst)),
      sectors_text(double(advice.now) / requests, std::max(1.0, double(advice.then) / requests)));
  const double lines_now = double(one.counters.lines);
  const double lines_then = std::min(lines_now, double(advice.then) / kSectorsPerLine);
  advice.less[Part::l1] = work[Part::l1] * (1 - lines_then / std::max(1.0, lines_now));
  advice.less[Part::l2] =
      std::max(0.0, work[Part::l2] - double(advice.then));  // each of them from the L2
  return advice;
}

// Fields of structures side by side in memory: the lanes' bytes without the holes.
Advice without_holes(const Case& of, const Instruction& one, const Trial& trial) {
  Advice advice = strided(of, one, Kind::unused_bytes, trial.ratio());
  const int64_t apart = std::abs(stride_of(*one.worst)->bytes);
  advice.fix = fmt::format(
      "keep what is used together side by side (a structure of arrays in place of an array of "
      "structures){}",
      apart <= 16 && (apart & (apart - 1)) == 0
          ? fmt::format(", or take all {} bytes in one {} per lane", apart,
                        one.action == Action::store ? "store" : "load")
          : "");
  // DRAM is spared what nobody uses: not the fields that other instructions load.
  uint64_t used = 0;
  for (const Instruction& other : of.kernel.instructions)
    if (is_plain(other) && other.lowest < one.end && one.lowest < other.end) used += other.bytes;
  advice.less[Part::dram] =
      of.work(one)[Part::dram] * std::max(0.0, 1 - double(used) / double(apart));
  return advice;
}

// A tile in shared memory: the block moves each sector once, and the lanes go to the tile.
Advice staged(const Case& of, const Instruction& one) {
  const Seen& seen = one.seen_global;
  Advice advice = strided(of, one, Kind::uncoalesced, double(seen.once) / double(seen.moved));
  const bool store = one.action == Action::store;
  advice.fix = fmt::format(
      "turn a tile in shared memory: let the lanes of a warp {} neighbouring elements, {} the tile "
      "in the other order",
      store ? "write" : "read", store ? "after the block has filled" : "then read");
  advice.less[Part::shared] -=
      double(one.counters.requests) + double(advice.then) / kSectorsPerLine;
  return advice;
}

// The same bytes are loaded again and again by the lanes and warps of a block.
std::optional<Advice> redundant(const Case& of, const Instruction& one) {
  const Seen& seen = one.seen_global;
  if (one.action != Action::load || of.kernel.block.count() < 32) return std::nullopt;
  const double reused = double(seen.moved) / std::max(1.0, double(seen.once));
  const double left = double(seen.once) / kSectorsPerLine / std::max(1.0, double(seen.requests));
  if (reused < kReused || left * kReused > 1) return std::nullopt;
  const Work& work = of.work(one);
  Advice advice = about(one, Kind::redundant);
  advice.part = part_of(work);
  advice.counter = "requests";
  advice.now = one.counters.requests;
  advice.then = scaled(advice.now, left);
  const std::string often = fmt::format("loads the same bytes {:.0f} times in a block", reused);
  advice.brief = often;
  advice.reason = fmt::format("the warps of a block make {} requests here for {} of memory: it {}",
                              thousands(seen.requests), bytes(int64_t(seen.once * kSector)), often);
  advice.fix =
      "load a tile once into shared memory, each lane another element, and read it from there";
  const double gone = double(advice.now - advice.then);
  advice.less[Part::l1] = work[Part::l1] * (1 - left);
  advice.less[Part::latency] = work[Part::latency] * (1 - left);
  advice.less[Part::shared] = -gone - double(advice.then);  // it is read, and written once
  return advice;
}

// threadIdx.x and threadIdx.y exchanged, for all accesses of the kernel.
std::optional<Advice> swapped_threads(const Case& of) {
  const auto trial = try_swap(of.kernel);
  if (!trial) return std::nullopt;
  Advice advice;
  const Instruction* worst = nullptr;
  double most = 0;
  for (const auto& [one, each] : trial->sectors) {
    const Work& work = of.work(*one);
    advice.less[Part::l1] += work[Part::l1] * (1 - trial->lines.at(one).ratio());
    for (const Part part : {Part::l2, Part::atomics})
      advice.less[part] += work[part] * (1 - each.ratio());
    advice.now += one->counters.sectors;
    advice.then += scaled(one->counters.sectors, each.ratio());
    const double gain = double(one->counters.sectors) * (1 - each.ratio());
    if (gain > most) most = gain, worst = one;
  }
  for (const auto& [one, each] : trial->wavefronts)
    advice.less[Part::shared] += of.work(*one)[Part::shared] * (1 - each.ratio());
  if (!worst || double(advice.now) < kWorthSaying * double(advice.then)) return std::nullopt;
  advice.kind = Kind::uncoalesced;
  advice.file = worst->file;
  advice.line = worst->file.empty() ? worst->ptx_line : worst->line;
  advice.part = part_of(of.work(*worst));
  advice.counter = "sectors";
  advice.brief = waste(*worst);
  advice.reason =
      fmt::format("{}, and threads with neighbouring threadIdx.y go to neighbouring elements",
                  pattern(*worst->worst, stride_of(*worst->worst)));
  advice.fix =
      "exchange threadIdx.x and threadIdx.y (and the sizes of the block), here and at the other "
      "lines: the number counts all accesses of the kernel";
  return advice;
}

// --- where arrays start

// Instructions that go to the same part of memory.
struct Group {
  uint64_t begin = 0, end = 0;
  std::vector<const Instruction*> members;
};

std::vector<Group> groups_of(const Kernel& kernel) {
  std::vector<const Instruction*> sorted;
  for (const Instruction& one : kernel.instructions)
    if (is_plain(one) && one.end) sorted.push_back(&one);
  std::ranges::sort(sorted, {}, &Instruction::lowest);
  std::vector<Group> groups;
  for (const Instruction* one : sorted) {
    if (groups.empty() || one->lowest >= groups.back().end)
      groups.push_back({one->lowest, one->end, {}});
    groups.back().end = std::max(groups.back().end, one->end);
    groups.back().members.push_back(one);
  }
  return groups;
}

struct Start {
  uint64_t shift = 0;          // bytes that everything moves
  uint64_t row = 0, more = 0;  // bytes behind every row
  uint64_t place(uint64_t offset) const { return offset + shift + (row ? offset / row * more : 0); }
};

struct StartTrial {
  Start start;
  std::map<const Instruction*, Trial> sectors, lines;
  Trial sum;             // of sectors
  double all_lines = 0;  // then
};

StartTrial try_start(const Group& group, const Start& start) {
  constexpr uint64_t kAllocation = 256;  // cudaMalloc's alignment
  const uint64_t base = group.begin / kAllocation * kAllocation;
  StartTrial trial;
  trial.start = start;
  for (const Instruction* one : group.members) {
    Trial sectors, lines;
    for (const Access& access : one->seen_global.sample) {
      Access then = access;
      for (uint64_t& at : then.address)
        if (at >= base) at = base + start.place(at - base);
      const double weight = double(access.warps);
      sectors += {double(sectors_of(access)) * weight, double(sectors_of(then)) * weight};
      lines += {double(cache_lines_of(access)) * weight, double(cache_lines_of(then)) * weight};
    }
    trial.sectors[one] = sectors;
    trial.lines[one] = lines;
    const double counted = double(one->counters.sectors);
    trial.sum += {counted, counted * sectors.ratio()};
    trial.all_lines += double(one->counters.lines) * lines.ratio();
  }
  return trial;
}

// The distance between the rows that a warp or neighbouring warps of a block go to.
std::vector<uint64_t> uneven_rows(const Group& group) {
  std::map<uint64_t, int> found;
  for (const Instruction* one : group.members) {
    std::optional<uint64_t> before;
    for (const auto& [warp, access] : one->seen_global.of_block)
      for (const uint64_t start : run_starts(access)) {
        if (before) ++found[start - *before];
        before = start;
      }
  }
  std::vector<uint64_t> rows;
  for (const auto& [distance, count] : found)
    if (distance > 128 && distance < (group.end - group.begin) / 2 && distance % kSector != 0)
      rows.push_back(distance);
  if (rows.size() > 4) rows.resize(4);
  return rows;
}

std::optional<Advice> misaligned(const Case& of, const Group& group) {
  uint64_t element = 16;
  for (const Instruction* one : group.members)
    element = std::min<uint64_t>(element, std::max(1u, one->bytes));
  std::optional<StartTrial> best;
  const auto consider = [&](const Start& start) {
    StartTrial trial = try_start(group, start);
    const auto less = [](double a, double b) { return a < b * 0.99; };
    const bool better =
        !best || less(trial.sum.then, best->sum.then) ||
        (!less(best->sum.then, trial.sum.then) && less(trial.all_lines, best->all_lines));
    if (better) best = std::move(trial);
  };
  for (uint64_t shift = element; shift < 128; shift += element) consider({.shift = shift});
  for (const uint64_t row : uneven_rows(group)) consider({.row = row, .more = 128 - row % 128});
  if (!best || best->sum.now < kWorthSaying * best->sum.then) return std::nullopt;
  const Instruction* worst = nullptr;
  double most = 0;
  Work less;
  for (const Instruction* one : group.members) {
    const double gain = double(one->counters.sectors) * (1 - best->sectors[one].ratio());
    if (gain > most) most = gain, worst = one;
    less[Part::l1] += of.work(*one)[Part::l1] * (1 - best->lines[one].ratio());
    less[Part::l2] += of.work(*one)[Part::l2] * (1 - best->sectors[one].ratio());
  }
  if (!worst) return std::nullopt;
  Advice advice = about(*worst, Kind::misaligned);
  advice.part = part_of(of.work(*worst));
  advice.less = less;
  advice.counter = "sectors";
  advice.now = scaled(1, best->sum.now);
  advice.then = scaled(1, best->sum.then);
  const double requests = std::max(1.0, double(worst->counters.requests));
  const double each = double(worst->counters.sectors) / requests;
  const std::string touched = fmt::format("touches {:.3g} sectors where {:.3g} would do", each,
                                          each * best->sectors[worst].ratio());
  const uint64_t past = worst->lowest % kSector;
  const std::string start =
      best->start.row ? fmt::format("rows of {} bytes start inside sectors", best->start.row)
      : past          ? fmt::format("it starts {} bytes into a sector", past)
                      : "it starts inside a sector";
  advice.brief = fmt::format("{}: {}", touched, start);
  advice.reason = fmt::format("a warp {}: {} of 32 bytes", touched, start);
  advice.fix = best->start.row ? fmt::format("make rows {} bytes long (cudaMallocPitch does)",
                                             best->start.row + best->start.more)
                               : fmt::format(
                                     "start {} bytes later, or {} earlier, so that warps begin at "
                                     "a multiple of 32 bytes",
                                     best->start.shift, 128 - best->start.shift);
  return advice;
}

}  // namespace

void advise_global(const Case& of, std::vector<Advice>& out) {
  std::vector<Advice> single;
  std::vector<const Instruction*> scattered;
  const auto calls_functions = [&](const Instruction& one) {
    return std::ranges::any_of(of.kernel.lines, [&](const Line& line) {
      return line.file == one.file && line.line == one.line && !functions_on(of, line).empty();
    });
  };
  for (const Instruction& one : of.kernel.instructions) {
    if (!is_plain(one) || !one.worst) continue;
    const Seen& seen = one.seen_global;
    const Trial least = packed(one);
    // A run of bytes that starts inside a sector needs one more; that is another matter.
    double accesses = 0;
    for (const Access& access : seen.sample) accesses += double(access.warps);
    if (least.now >= kScattered * least.then && least.now > least.then + accesses) {
      const auto stride = stride_of(*one.worst);
      const int64_t apart = stride ? std::abs(stride->bytes) : 0;
      if (apart > int64_t(one.worst->bytes) && apart <= int64_t(kSector)) {
        single.push_back(without_holes(of, one, least));
        scattered.push_back(&one);
        continue;
      }
      if (seen.moved && double(seen.moved) >= kScattered * double(seen.once)) {
        single.push_back(staged(of, one));
        scattered.push_back(&one);
        continue;
      }
    }
    if (calls_functions(one)) continue;  // tables of the mathematical library
    if (auto advice = redundant(of, one)) single.push_back(std::move(*advice));
  }
  // One exchange of indices may cure what would need several tiles.
  if (!scattered.empty())
    if (auto advice = swapped_threads(of)) {
      Work tiles;
      for (const Advice& one : single)
        if (one.kind == Kind::uncoalesced) tiles += one.less;
      if (of.saved(advice->less) >= of.saved(tiles)) {
        std::erase_if(single, [](const Advice& one) { return one.kind == Kind::uncoalesced; });
        single.push_back(std::move(*advice));
      }
    }
  for (const Group& group : groups_of(of.kernel)) {
    if (std::ranges::any_of(group.members, [&](const Instruction* one) {
          return std::ranges::find(scattered, one) != scattered.end();
        }))
      continue;
    if (auto advice = misaligned(of, group)) single.push_back(std::move(*advice));
  }
  out.insert(out.end(), std::make_move_iterator(single.begin()),
             std::make_move_iterator(single.end()));
}

}  // namespace ridge::tools::profile
