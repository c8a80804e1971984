#include "profile/advice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "profile/modelled.h"

namespace ridge::tools::profile {
namespace {

constexpr double kWorthIt = 0.05;  // of the kernel's time

// Instructions of one line with one trouble are one piece of advice: an unrolled loop has dozens.
void join(std::vector<Advice>& list, Advice one) {
  for (Advice& known : list)
    if (known.kind == one.kind && known.line == one.line && known.file == one.file &&
        known.part == one.part) {
      const uint64_t now = known.now + one.now, then = known.then + one.then;
      Work less = known.less;
      less += one.less;
      if (one.now - one.then > known.now - known.then) known = std::move(one);
      known.now = now, known.then = then, known.less = less;
      return;
    }
  list.push_back(std::move(one));
}

std::string place(const std::string& file, uint32_t line) {
  return fmt::format("{} {}", file.empty() ? "PTX line" : "line", line);
}

// The line with the largest share of a part.
const Line* busiest(const Case& of, Part part) {
  const Line* best = nullptr;
  double most = 0;
  for (const Line& line : of.kernel.lines) {
    double cycles = 0;
    for (const size_t i : line.instructions) cycles += of.works[i][part];
    if (cycles > most) most = cycles, best = &line;
  }
  return best;
}

// What holds the kernel up: as the model of time says, if it names a part of the GPU.
Part bound_of(const Case& of) {
  const Time time = time_of(of.all, of.spread);
  const Part plain = time.longest();
  if (!of.kernel.modelled) return plain;
  const std::string& bound = of.kernel.modelled->bound;
  // What comes from DRAM crosses the L2, which is the busier of the two on some GPUs.
  if (bound == "memory" || bound == "l2")
    return plain == Part::l2 || plain == Part::l1 ? plain : Part::dram;
  if (bound == "l1_shared")
    return time.of(Part::shared) > time.of(Part::l1) ? Part::shared : Part::l1;
  if (bound == "issue") return Part::issue;
  if (bound == "fma") return Part::fp32;
  if (bound == "fp64") return Part::fp64;
  if (bound == "sfu") return Part::special;
  if (bound == "tensor") return Part::tensor;
  if (bound == "atomics") return Part::atomics;
  return plain;  // too small a launch to keep anything busy: what it has most to do of
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
    case Kind::register_tile: return "few operations per load";
    case Kind::local: return "local memory";
    case Kind::spills: return "spills";
    case Kind::doubles: return "accidental doubles";
    case Kind::functions: return "slow functions";
    case Kind::partial_warp: return "partial warp";
    case Kind::occupancy: return "occupancy";
    case Kind::idle_sms: return "idle SMs";
  }
  return "";
}

Case::Case(const Kernel& kernel, const GpuSpec& gpu)
    : kernel(kernel),
      gpu(gpu),
      works(work_of(kernel, gpu)),
      all(sum_of(works)),
      spread(Spread::of(kernel, gpu)),
      time(time_of(all, spread).total()) {}

double Case::saved(const Work& less) const {
  Work left = all;
  left -= less;
  return time > 0 ? 1 - time_of(left, spread).total() / time : 0;
}

double Case::saved(const Spread& other) const {
  return time > 0 ? 1 - time_of(all, other).total() / time : 0;
}

const Work& Case::work(const Instruction& one) const {
  return works[size_t(&one - kernel.instructions.data())];
}

Advice about(const Instruction& one, Kind kind) {
  return Advice{.kind = kind, .file = one.file, .line = one.file.empty() ? one.ptx_line : one.line};
}

std::string times(double factor) {
  return factor >= 9.95 || std::abs(factor - std::round(factor)) < 0.05
             ? fmt::format("{:.0f}×", factor)
             : fmt::format("{:.1f}×", factor);
}

uint64_t scaled(uint64_t count, double by) { return uint64_t(std::llround(double(count) * by)); }

std::vector<Advice> advise(const Kernel& kernel, const GpuSpec& gpu) {
  const Case of(kernel, gpu);
  std::vector<Advice> given, list;
  advise_global(of, given);
  advise_shared(of, given);
  advise_atomics(of, given);
  advise_arithmetic(of, given);
  for (Advice& advice : given) join(list, std::move(advice));
  for (Advice& advice : list) advice.saves = of.saved(advice.less);
  advise_launch(of, list);
  std::erase_if(list, [&](const Advice& advice) { return advice.saves < kWorthIt; });
  std::ranges::stable_sort(list, std::greater<>{}, &Advice::saves);
  for (Advice& advice : list) advice.saves_us = saved_us(kernel, advice.saves);
  return list;
}

std::string verdict(const Kernel& kernel, const std::vector<Advice>& advice, const GpuSpec& gpu) {
  const Case of(kernel, gpu);
  if (of.time == 0) return fmt::format("{} executed nothing.", kernel.short_name());
  if (!advice.empty() && advice.front().line == 0)
    return fmt::format("{} {}.", kernel.short_name(), advice.front().brief);
  const Part part = bound_of(of);
  const std::string bound = fmt::format("{} is bound by {}", kernel.short_name(), name_of(part));
  if (!advice.empty() && advice.front().part == part)
    return fmt::format("{}: {} {}.", bound, place(advice.front().file, advice.front().line),
                       advice.front().brief);
  // Nothing there is wasted. Is there something worth doing elsewhere?
  const Line* line = busiest(of, part);
  const std::string text =
      fmt::format("{}{}{}", bound,
                  line ? fmt::format(", most of all by {}", place(line->file, line->line)) : "",
                  part == Part::dram ? ", and every sector is moved only once" : "");
  if (advice.empty()) return text + ".";
  return fmt::format("{}; but {} {}.", text, place(advice.front().file, advice.front().line),
                     advice.front().brief);
}

}  // namespace ridge::tools::profile
