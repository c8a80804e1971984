#include "profile/advice.h"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::tools::profile {
namespace {

constexpr double kWorthIt = 0.02;  // of the kernel's cost

// Instructions of one line with one trouble are one piece of advice: an unrolled loop has dozens.
void join(std::vector<Advice>& list, Advice one) {
  for (Advice& known : list)
    if (known.kind == one.kind && known.line == one.line && known.file == one.file &&
        known.part == one.part) {
      const uint64_t now = known.now + one.now, then = known.then + one.then;
      const double saves = known.saves + one.saves;
      if (one.saves > known.saves) known = std::move(one);
      known.now = now, known.then = then, known.saves = saves;
      return;
    }
  list.push_back(std::move(one));
}

std::string place(const Kernel& kernel, uint32_t line) {
  return fmt::format("{} {}", kernel.has_lines() ? "line" : "PTX line", line);
}

// The line with the largest share of a part.
const Line* busiest(const Kernel& kernel, Part part, const GpuSpec& gpu) {
  const Line* best = nullptr;
  double most = 0;
  for (const Line& line : kernel.lines) {
    double cycles = 0;
    for (const size_t i : line.instructions)
      cycles += cost_of(kernel.instructions[i], gpu).of(part);
    if (cycles > most) most = cycles, best = &line;
  }
  return best;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::uncoalesced: return "uncoalesced";
    case Kind::unused_bytes: return "unused bytes";
    case Kind::misaligned: return "misaligned";
    case Kind::bank_conflict: return "bank conflict";
    case Kind::atomic: return "atomics in turns";
    case Kind::divergence: return "divergence";
    case Kind::redundant: return "redundant loads";
    case Kind::local: return "local memory";
    case Kind::spills: return "spills";
    case Kind::partial_warp: return "partial warp";
    case Kind::occupancy: return "occupancy";
    case Kind::idle_sms: return "idle SMs";
  }
  return "";
}

std::vector<Advice> advise(const Kernel& kernel, const GpuSpec& gpu) {
  std::vector<Advice> list;
  for (const Instruction& one : kernel.instructions) {
    const bool atomic = one.action == Action::reduction || one.action == Action::atomic;
    auto advice = atomic                       ? advise_atomic(kernel, one, gpu)
                  : one.reach == Reach::shared ? advise_shared(kernel, one)
                                               : advise_global(kernel, one);
    if (advice) join(list, std::move(*advice));
  }
  for (Advice& advice : advise_launch(kernel, gpu)) join(list, std::move(advice));
  const double all = cost_of(kernel, gpu).sum();
  std::erase_if(list, [&](const Advice& advice) { return advice.saves < kWorthIt * all; });
  std::ranges::stable_sort(list, std::greater<>{}, &Advice::saves);
  return list;
}

std::string verdict(const Kernel& kernel, const std::vector<Advice>& advice, const GpuSpec& gpu) {
  const Costs costs = cost_of(kernel, gpu);
  if (costs.sum() == 0) return fmt::format("{} executed nothing.", kernel.name);
  const Part part = costs.longest();
  const std::string bound = fmt::format("{} is bound by {}", kernel.name, name_of(part));
  for (const Advice& one : advice)
    if (one.part == part && one.line != 0)
      return fmt::format("{}: {} {}.", bound, place(kernel, one.line), one.brief);
  // Nothing there is wasted. Is there something worth doing elsewhere?
  const Line* line = busiest(kernel, part, gpu);
  const bool memory = part == Part::global_loads || part == Part::global_stores;
  std::string text = fmt::format(
      "{}{}{}", bound, line ? fmt::format(", most of all by {}", place(kernel, line->line)) : "",
      memory                 ? ", and moves only sectors it needs"
      : part == Part::shared ? ", free of conflicts"
                             : "");
  for (const Advice& one : advice)
    if (one.kind != Kind::idle_sms)
      return fmt::format("{}; but {} {}.", text,
                         one.line ? place(kernel, one.line) : std::string("the kernel"), one.brief);
  return text + ".";
}

}  // namespace ridge::tools::profile
