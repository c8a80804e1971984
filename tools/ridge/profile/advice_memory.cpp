// Advice on accesses to memory, from the addresses of the costliest access of an instruction.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr double kWorthSaying = 1.1;  // times what it should be
constexpr int64_t kSector = 32;

std::string times(double factor) {
  return factor >= 9.95 || std::abs(factor - std::round(factor)) < 0.05
             ? fmt::format("{:.0f}×", factor)
             : fmt::format("{:.1f}×", factor);
}

uint64_t scaled(uint64_t count, uint64_t now, uint64_t then) {
  return now ? uint64_t(std::llround(double(count) * double(then) / double(now))) : count;
}

Advice about(const Instruction& one, Kind kind) {
  Advice advice{.kind = kind, .file = one.file, .line = one.file.empty() ? one.ptx_line : one.line};
  return advice;
}

std::string sectors_text(uint64_t now, uint64_t then) {
  return fmt::format("a warp touches {} sector{} of 32 bytes where {} would hold what it uses", now,
                     now == 1 ? "" : "s", then);
}

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

Advice strided(const Instruction& one, const Access& access, uint64_t cost, uint64_t least) {
  const auto stride = stride_of(access);
  const bool holes = stride && std::abs(stride->bytes) > int64_t(access.bytes) &&
                     std::abs(stride->bytes) <= kSector;
  Advice advice = about(one, holes ? Kind::unused_bytes : Kind::uncoalesced);
  advice.counter = "sectors";
  advice.now = one.counters.sectors;
  advice.then = std::max(scaled(advice.now, cost, least),
                         (one.counters.bytes_used + uint64_t(kSector) - 1) / uint64_t(kSector));
  const double waste =
      double(one.counters.sectors) * kSector / std::max(1.0, double(one.counters.bytes_used));
  advice.brief = fmt::format("moves {} the bytes it uses", times(waste));
  advice.reason = fmt::format("{}: {}", pattern(access, stride), sectors_text(cost, least));
  if (holes) {
    const int64_t apart = std::abs(stride->bytes);
    advice.fix = fmt::format(
        "keep what is used together side by side (a structure of arrays in place of an array of "
        "structures){}",
        apart <= 16 && (apart & (apart - 1)) == 0
            ? fmt::format(", or take all {} bytes in one {} a lane", apart,
                          one.action == Action::store ? "store" : "load")
            : "");
  } else if (stride && stride->bytes != 0) {
    advice.fix =
        "let neighbouring lanes take neighbouring elements: give threadIdx.x the index that runs "
        "through memory, or turn a tile in shared memory";
  } else {
    advice.fix =
        "bring what a warp needs together first: sort the indices, or stage the rows in shared "
        "memory";
  }
  return advice;
}

Advice misaligned(const Instruction& one, const Access& access, uint64_t cost, uint64_t aligned) {
  Advice advice = about(one, Kind::misaligned);
  advice.counter = "sectors";
  advice.now = one.counters.sectors;
  advice.then = std::max(scaled(advice.now, cost, aligned),
                         (one.counters.bytes_used + uint64_t(kSector) - 1) / uint64_t(kSector));
  const uint64_t past = access.base % uint64_t(kSector), rows = runs_of(access);
  const std::string start = rows > 1 ? fmt::format("its {} rows start inside sectors", rows)
                            : past   ? fmt::format("it starts {} bytes into a sector", past)
                                     : "it starts inside a sector";
  const std::string touched = fmt::format("touches {} sectors where {} would do", cost, aligned);
  advice.brief = fmt::format("{}: {}", touched, start);
  advice.reason = fmt::format("a warp {}: {} of 32 bytes", touched, start);
  advice.fix =
      "start each warp's part at a multiple of 32 bytes: pad rows to a multiple of 32 (128 is "
      "best), "
      "or shift the index and treat the first elements apart";
  return advice;
}

// In the elements of the array, as the user would write it.
std::string padding_text(const Padding& padding, uint32_t element) {
  uint64_t row = padding.row, more = padding.more;
  const char* unit = "bytes";
  if (element && row % element == 0 && more % element == 0)
    row /= element, more /= element, unit = "elements";
  return fmt::format("pad the row by {}: {} {} in place of {} (index i becomes i + i / {}{})",
                     more == 1 ? "one" : std::to_string(more), row + more, unit, row, row,
                     more == 1 ? "" : fmt::format(" * {}", more));
}

// Loads that hand one value to the whole warp, over and over.
std::optional<Advice> redundant(const Kernel& kernel, const Instruction& one) {
  const Counters& c = one.counters;
  const uint64_t warps = kernel.blocks * kernel.warps_per_block();
  if (one.action != Action::load || !c.bytes_used || !warps) return std::nullopt;
  const double shared_by = double(c.threads) * one.bytes / double(c.bytes_used);
  const uint64_t a_warp = c.requests / warps;
  if (shared_by < 8 || a_warp < 8) return std::nullopt;
  Advice advice = about(one, Kind::redundant);
  advice.part = Part::global_loads;
  advice.counter = "requests";
  advice.now = c.requests;
  advice.then = c.requests / 32;
  advice.brief = fmt::format("loads one value for {:.0f} lanes at a time, {} times a warp",
                             shared_by, thousands(a_warp));
  advice.reason = fmt::format(
      "{:.0f} lanes load the same {} bytes, and a warp does so {} times: each request brings one "
      "value where it could bring 32",
      shared_by, one.bytes, thousands(a_warp));
  advice.fix =
      "let each lane load another value, into a tile in shared memory, and read it from there: "
      "with tiles of 32 one request in 32 is left";
  advice.saves = double(c.requests - advice.then);
  return advice;
}

}  // namespace

std::optional<Advice> advise_global(const Kernel& kernel, const Instruction& one) {
  if (one.reach != Reach::global || !one.worst || !one.counters.sectors) return std::nullopt;
  if (one.action == Action::reduction || one.action == Action::atomic) return std::nullopt;
  const Access& access = *one.worst;
  const uint64_t cost = access.cost ? access.cost : sectors_of(access);
  const uint64_t least = least_sectors(access), aligned = aligned_sectors(access);
  // A copy has two sides, and the costlier one may be that in shared memory.
  if (one.action == Action::copy && cost != sectors_of(access)) return std::nullopt;
  std::optional<Advice> advice;
  if (double(aligned) > kWorthSaying * double(least)) advice = strided(one, access, cost, least);
  else if (double(cost) > kWorthSaying * double(aligned))
    advice = misaligned(one, access, cost, aligned);
  if (!advice) return redundant(kernel, one);
  if (double(advice->now) < kWorthSaying * double(advice->then)) return std::nullopt;
  advice->part = one.action == Action::store ? Part::global_stores : Part::global_loads;
  advice->saves = double(advice->now - advice->then);
  return advice;
}

std::optional<Advice> advise_shared(const Kernel& kernel, const Instruction& one) {
  const Counters& c = one.counters;
  if (one.reach != Reach::shared || !one.worst) return std::nullopt;
  const uint64_t without = c.wavefronts - c.conflicts;
  if (double(c.wavefronts) < kWorthSaying * double(without)) return std::nullopt;
  const Access& access = *one.worst;
  const Conflict conflict = worst_conflict(access);
  if (conflict.ways < 2) return std::nullopt;
  Advice advice = about(one, Kind::bank_conflict);
  advice.part = Part::shared;
  advice.counter = "wavefronts";
  advice.now = c.wavefronts;
  advice.then = without;
  advice.saves = double(advice.now - advice.then);
  advice.brief = fmt::format(
      "is a {}-way bank conflict: {} turns where {} would do", conflict.ways,
      access.cost ? access.cost : wavefronts_of(access),
      std::max<uint64_t>(1, without / std::max<uint64_t>(1, c.shared_requests)));
  advice.reason = fmt::format("lanes {} hit bank {} in different words; {}-way conflict",
                              lanes_text(conflict.lanes), conflict.bank, conflict.ways);
  if (access.warps && access.warps * 2 < c.shared_requests)
    advice.reason += fmt::format(" (the worst of them; {} of {} accesses)", thousands(access.warps),
                                 thousands(c.shared_requests));
  std::vector<Access> others;
  for (const Instruction& other : kernel.instructions)
    if (other.reach == Reach::shared && other.worst && &other != &one)
      others.push_back(*other.worst);
  if (const auto padding = padding_for(access, others)) {
    advice.fix = padding_text(*padding, one.bytes);
  } else {
    advice.fix =
        "no padding up to 8 elements cures it: exchange columns by row instead (column ^ row), or "
        "let the lanes of a warp take neighbouring words";
  }
  return advice;
}

std::optional<Advice> advise_atomic(const Kernel& kernel, const Instruction& one,
                                    const GpuSpec& gpu) {
  if (one.action != Action::reduction && one.action != Action::atomic) return std::nullopt;
  if (!one.worst) return std::nullopt;
  const Access& access = *one.worst;
  const uint32_t together = lanes_a_place(access);
  if (together < 2) return advise_shared(kernel, one);
  const bool shared = one.reach == Reach::shared;
  Advice advice = about(one, Kind::atomic);
  advice.part = shared ? Part::shared : Part::atomics;
  advice.counter = shared ? "wavefronts" : "sectors";
  advice.now = shared ? one.counters.wavefronts : one.counters.sectors;
  const uint64_t cost = std::max<uint64_t>(1, access.cost);
  // Lanes with one address become one lane.
  const Access fewer = once_a_place(access);
  const uint64_t least = std::min(cost, shared ? wavefronts_of(fewer) : sectors_of(fewer));
  advice.then = scaled(advice.now, cost, least);
  if (double(advice.now) < kWorthSaying * double(advice.then)) return std::nullopt;
  advice.brief =
      fmt::format("has {} lanes of a warp add to one address, one after the other", together);
  advice.reason = fmt::format(
      "{} lanes of a warp go to one address and take turns: {} {} where {} "
      "would do",
      together, cost, shared ? "wavefronts" : "sectors", shared ? 1 : sectors_of(access));
  advice.fix = shared ? "give each warp a copy of its own and add the copies up in the end, or "
                        "combine equal addresses within the warp first (__match_any_sync)"
                      : "combine within the warp first (__reduce_add_sync or shuffles), or within "
                        "the block in shared memory; then one lane does the atomic";
  advice.saves = double(advice.now - advice.then) * (shared ? 1 : gpu.sm_count);
  return advice;
}

}  // namespace ridge::tools::profile
