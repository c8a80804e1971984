#include "profile/text.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/figures.h"
#include "profile/advice.h"
#include "profile/modelled.h"
#include "profile/time.h"
#include "profile/words.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr size_t kSourceWidth = 76;  // of a source line's text

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

std::string resources_text(const Kernel& kernel, const GpuSpec& gpu) {
  const Resources& r = kernel.resources;
  std::string text = fmt::format("{} registers{}", r.registers,
                                 r.from_ptxas ? " (ptxas)" : " (an estimate: ptxas was not asked)");
  if (r.static_shared || r.dynamic_shared) {
    text += fmt::format(", {} shared", bytes(r.static_shared + r.dynamic_shared));
    if (r.dynamic_shared) text += fmt::format(" ({} of it dynamic)", bytes(r.dynamic_shared));
  }
  if (r.local_bytes) text += fmt::format(", {} local", bytes(r.local_bytes));
  if (r.spill_stores + r.spill_loads)
    text += fmt::format(", spills {}", bytes(r.spill_stores + r.spill_loads));
  const Occupancy& o = kernel.occupancy;
  if (o.blocks_per_sm)
    text +=
        fmt::format(", occupancy {} (limited by {})", percent(o.fraction), to_string(o.limiter));
  if (kernel.grid.count() < uint64_t(gpu.sm_count))
    text += fmt::format(", {} of {} SMs idle", uint64_t(gpu.sm_count) - kernel.grid.count(),
                        gpu.sm_count);
  return text;
}

std::string title(const Kernel& kernel) {
  std::string text = bold(kernel.short_name());
  if (kernel.launches > 1) text += fmt::format(" ×{}", thousands(kernel.launches));
  text += fmt::format("  {} block{} of {} thread{}", to_string(kernel.grid),
                      kernel.grid.count() == 1 ? "" : "s", to_string(kernel.block),
                      kernel.block.count() == 1 ? "" : "s");
  if (kernel.sampled())
    text += fmt::format("  {}",
                        dim(fmt::format("sampled {} of {} blocks; counts are scaled",
                                        thousands(kernel.blocks_run), thousands(kernel.blocks))));
  if (!kernel.not_sampled.empty())
    text += fmt::format("  {}", dim("all blocks ran, for they communicate: " + kernel.not_sampled));
  if (kernel.faulted) text += "  " + red("it did not finish; this is what was counted until then");
  return text;
}

// What one kind of access cost, as a row; nothing where there was none.
void add_memory_row(std::vector<std::vector<std::string>>& rows, const Kernel& kernel, Reach reach,
                    Action action) {
  Counters sum;
  for (const Instruction& one : kernel.instructions)
    if (one.reach == reach && one.action == action) sum += one.counters;
  const bool shared = reach == Reach::shared;
  const uint64_t requests = shared ? sum.shared_requests : sum.requests;
  if (sum.image_requests)
    rows.push_back({fmt::format("{} {}", name_of(reach), noun_of(action)),
                    thousands(sum.image_requests), "", "", "", ""});
  if (!requests) return;
  const uint64_t cost = shared ? sum.wavefronts : sum.sectors;
  const double moved = double(sum.sectors) * 32;
  rows.push_back(
      {fmt::format("{} {}", name_of(reach), noun_of(action)), thousands(requests), thousands(cost),
       shared ? "wavefronts" : "sectors", fmt::format("{:.1f}", double(cost) / double(requests)),
       shared ? counted(sum, &Counters::conflicts)
       : action == Action::reduction || action == Action::atomic || !sum.sectors
           ? ""
           : fmt::format("{} of the bytes used", percent(double(sum.bytes_used) / moved))});
}

// The same for shared memory of other blocks of the cluster.
void add_peer_row(std::vector<std::vector<std::string>>& rows, const Kernel& kernel,
                  Action action) {
  Counters sum;
  for (const Instruction& one : kernel.instructions)
    if (one.action == action) sum += one.counters;
  if (!sum.peer_requests) return;
  rows.push_back({fmt::format("cluster {}", noun_of(action)), thousands(sum.peer_requests),
                  thousands(sum.peer_bytes), "bytes",
                  fmt::format("{:.1f}", double(sum.peer_bytes) / double(sum.peer_requests)), ""});
}

// Which units the instructions went to, the busiest first.
std::string mix(const Kernel& kernel) {
  std::map<std::string, uint64_t> units;
  for (const Instruction& one : kernel.instructions)
    if (!one.unit.empty()) units[one.unit] += one.counters.warps;
  std::vector<std::pair<std::string, uint64_t>> sorted(units.begin(), units.end());
  std::ranges::stable_sort(sorted, std::greater<>{}, &std::pair<std::string, uint64_t>::second);
  std::string text;
  for (const auto& [unit, warps] : sorted)
    if (const double share = double(warps) / double(kernel.total.warps); share >= 0.01)
      text += fmt::format("{}{} {}", text.empty() ? "  " : ", ", unit, percent(share));
  return text.empty() ? "" : text + '\n';
}

std::string counts(const Kernel& kernel) {
  const Counters& t = kernel.total;
  std::string text = fmt::format("  {} (PTX), {:.1f} of 32 lanes active",
                                 counted(t, &Counters::warps), t.active_lanes());
  if (t.branches)
    text +=
        fmt::format(", {}, {} divergent", counted(t, &Counters::branches), thousands(t.divergent));
  for (const auto field :
       {&Counters::barriers, &Counters::cluster_barriers, &Counters::mbarrier_waits,
        &Counters::copy_waits, &Counters::product_waits})
    if (t.*field) text += fmt::format(", {}", counted(t, field));
  text += '\n' + mix(kernel);
  if (t.tensor_instructions)
    text += fmt::format("  {} in {}\n", counted(t, &Counters::tensor_ops),
                        counted(t, &Counters::tensor_instructions));
  std::vector<std::vector<std::string>> rows = {{"", "requests", "cost", "", "each", ""}};
  constexpr Action kActions[] = {Action::load, Action::store,    Action::reduction, Action::atomic,
                                 Action::copy, Action::prefetch, Action::operand};
  for (const Reach reach :
       {Reach::global, Reach::bulk, Reach::texture, Reach::surface, Reach::local, Reach::shared})
    for (const Action action : kActions) add_memory_row(rows, kernel, reach, action);
  for (const Action action : kActions) add_peer_row(rows, kernel, action);
  if (rows.size() > 1)
    text += table(rows,
                  {Align::left, Align::right, Align::right, Align::left, Align::right, Align::left},
                  "  ");
  return text;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  std::string kept = text.substr(begin);
  if (kept.size() <= kSourceWidth) return kept;
  size_t end = kSourceWidth - 1;
  while (end > 0 && (kept[end] & 0xC0) == 0x80) --end;
  return kept.substr(0, end) + "…";
}

std::string counters_text(const Counters& c) {
  std::string text = counted(c, &Counters::warps);
  if (c.active_lanes() < 31.95) text += fmt::format(" with {:.1f} lanes", c.active_lanes());
  if (c.tensor_ops) text += fmt::format(", {}", counted(c, &Counters::tensor_ops));
  if (c.peer_requests)
    text += fmt::format(", {} in {}", counted(c, &Counters::peer_bytes),
                        counted(c, &Counters::peer_requests));
  if (c.image_requests) text += fmt::format(", {}", counted(c, &Counters::image_requests));
  if (c.requests)
    text += fmt::format(", {} in {}, {} of their bytes used", counted(c, &Counters::sectors),
                        counted(c, &Counters::requests),
                        percent(double(c.bytes_used) / std::max(1.0, 32.0 * double(c.sectors))));
  if (c.shared_requests)
    text += fmt::format(", {} in {}", counted(c, &Counters::wavefronts),
                        counted(c, &Counters::shared_requests));
  return text;
}

void add_advice(std::string& text, const Advice& advice, std::string_view indent) {
  text += fmt::format("{}{}: {}.\n{}{} {}.", indent, red(name_of(advice.kind)), advice.reason,
                      indent, green("fix:"), advice.fix);
  const std::string time = advice.saves_us > 0 ? fmt::format("{:.1f} µs, ", advice.saves_us) : "";
  text +=
      dim(fmt::format(" ({} {} → {}; saves about {}{} of the kernel's time)", advice.counter,
                      thousands(advice.now), thousands(advice.then), time, percent(advice.saves)));
  text += '\n';
}

std::string kernel_text(const Kernel& kernel, const std::vector<Advice>& advice, const GpuSpec& gpu,
                        size_t top) {
  std::string text = title(kernel) + '\n';
  if (kernel.short_name() != kernel.name) text += fmt::format("  {}\n", dim(kernel.name));
  if (kernel.modelled) text += fmt::format("  {}\n", modelled_text(kernel, gpu));
  if (!kernel.tensors.empty())
    text += fmt::format("  {}\n", dim(fmt::format("{}", fmt::join(kernel.tensors, ", "))));
  text += fmt::format("  {}\n", resources_text(kernel, gpu));
  text += counts(kernel);
  bool first = true;
  for (const Advice& one : advice)
    if (one.line == 0) {
      if (std::exchange(first, false)) text += "\n  the kernel as a whole\n";
      add_advice(text, one, "    ");
    }
  const Case of(kernel, gpu);
  const double all = of.time;
  std::string file;
  size_t shown = 0;
  for (const Line& line : kernel.lines) {
    const auto belongs = [&](const Advice& one) {
      return one.line != 0 && one.line == line.line && one.file == line.file;
    };
    const bool advised = std::ranges::any_of(advice, belongs);
    if (shown >= top || (line.cost < 0.01 * all && !advised)) continue;
    if (line.file != file && !line.file.empty())
      text += fmt::format("\n  {}", dim(std::filesystem::path(line.file).filename().string()));
    file = line.file;
    text += fmt::format("\n  {} {:>4}  {}\n", line.file.empty() ? "PTX line" : "line", line.line,
                        bold(trimmed(line.text)));
    text += fmt::format("    {} of the cost: {}\n", percent(all > 0 ? line.cost / all : 0),
                        counters_text(line.counters));
    if (const std::string inside = functions_on(of, line); !inside.empty())
      text += fmt::format("    {}\n", inside);
    if (line.unclear)
      text +=
          dim("    the machine code leaves open how wide its accesses are: counted as modelled") +
          '\n';
    for (const Advice& one : advice)
      if (belongs(one)) add_advice(text, one, "    ");
    ++shown;
  }
  return text;
}

}  // namespace

std::string to_text(const Profile& profile, const GpuSpec& gpu, size_t top) {
  struct Entry {
    const Kernel* kernel;
    std::vector<Advice> advice;
    double cost;
  };
  std::vector<Entry> entries;
  double all = 0;
  for (const Kernel& kernel : profile.kernels) {
    entries.push_back({&kernel, advise(kernel, gpu), cost_of(profile, kernel, gpu)});
    all += entries.back().cost;
  }
  std::ranges::stable_sort(entries, std::greater<>{}, &Entry::cost);
  std::string text;
  for (const Entry& entry : entries) {
    const std::string sentence = verdict(*entry.kernel, entry.advice, gpu);
    if (&entry == &entries.front()) {
      text += bold(sentence) + '\n';
      if (entries.size() > 1)
        text += dim(fmt::format("It is {} of the cost of {} kernels.",
                                percent(all > 0 ? entry.cost / all : 0), entries.size())) +
                '\n';
    }
    text += '\n' + kernel_text(*entry.kernel, entry.advice, gpu, top);
  }
  if (std::ranges::any_of(profile.kernels, [](const Kernel& k) {
        return std::ranges::any_of(k.lines, [](const Line& l) { return l.file.empty(); });
      }))
    text +=
        "\nWhere there is no line information, lines are PTX's. For source lines, build the "
        "program "
        "with nvcc -lineinfo.\n";
  if (!model::figures_of(gpu).checked)
    text += fmt::format("\nCosts are those of {}, {}: its figures are published or derived.\n",
                        gpu.name, model::kUnchecked);
  text += '\n' + dim(widths_note(profile)) + '\n';
  return text;
}

}  // namespace ridge::tools::profile
