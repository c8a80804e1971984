#include "profile/to_json.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "profile/metrics.h"
#include "profile/modelled.h"
#include "profile/roofline.h"
#include "profile/time.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;

json counters_json(const Counters& counters) {
  json out = json::object();
  for (const Counter& counter : kCounters)
    if (counters.*counter.field) out[counter.name] = counters.*counter.field;
  return out;
}

json access_json(const Access& access, Reach reach) {
  json out = {{"mask", fmt::format("{:08x}", access.mask)},
              {"bytes", access.bytes},
              {"base", access.base},
              {"cost", access.cost},
              {"warps", access.warps},
              {"addresses", access.address}};
  if (reach == Reach::shared) out["least"] = least_wavefronts(access);
  else out["least"] = least_sectors(access);
  return out;
}

json instruction_json(const Instruction& one) {
  json out = {
      {"ptx", one.ptx}, {"ptx_line", one.ptx_line}, {"counters", counters_json(one.counters)}};
  if (!one.unit.empty()) out["unit"] = one.unit;
  if (one.reach != Reach::none) {
    out["reach"] = name_of(one.reach);
    out["action"] = name_of(one.action);
    out["bytes"] = one.bytes;
  }
  if (one.source != Source::none) out["source"] = name_of(one.source);
  if (!one.library.empty()) out["library"] = one.library;
  if (one.merged_into) out["merged_into"] = one.merged_into;
  if (one.unclear) out["widths"] = "model";
  if (one.worst) out["worst"] = access_json(*one.worst, one.reach);
  if (one.split)
    out["split"] = {{"mask", fmt::format("{:08x}", one.split->mask)},
                    {"taken", fmt::format("{:08x}", one.split->taken)},
                    {"warps", one.split->warps}};
  return out;
}

json advice_json(const Advice& advice) {
  json out = {{"kind", name_of(advice.kind)}, {"reason", advice.reason}, {"fix", advice.fix},
              {"counter", advice.counter},    {"now", advice.now},       {"then", advice.then},
              {"saves", advice.saves}};
  if (advice.saves_us > 0) out["saves_us"] = advice.saves_us;
  if (advice.line) out["line"] = advice.line;
  if (!advice.file.empty()) out["file"] = advice.file;
  return out;
}

json kernel_json(const Kernel& kernel, const GpuSpec& gpu) {
  const std::vector<Advice> advice = advise(kernel, gpu);
  const Case of(kernel, gpu);
  const Time time = time_of(of.all, of.spread);
  const double total = of.time;
  const Roofline roof = roofline_of(kernel, gpu);
  const Resources& r = kernel.resources;
  json out = {
      {"name", kernel.name},
      {"short_name", kernel.short_name()},
      {"full_name", kernel.full_name},
      {"mangled", kernel.mangled},
      {"tensors", kernel.tensors},
      {"launches", kernel.launches},
      {"grid", {kernel.grid.x, kernel.grid.y, kernel.grid.z}},
      {"block", {kernel.block.x, kernel.block.y, kernel.block.z}},
      {"blocks", kernel.blocks},
      {"blocks_run", kernel.blocks_run},
      {"sampled", kernel.sampled()},
      {"faulted", kernel.faulted},
      {"verdict", verdict(kernel, advice, gpu)},
      {"resources",
       {{"registers", r.registers},
        {"from", r.from_ptxas ? "ptxas" : "estimate"},
        {"static_shared", r.static_shared},
        {"dynamic_shared", r.dynamic_shared},
        {"local_bytes", r.local_bytes},
        {"spill_store_bytes", r.spill_stores},
        {"spill_load_bytes", r.spill_loads}}},
      {"occupancy",
       {{"fraction", kernel.occupancy.fraction},
        {"blocks_per_sm", kernel.occupancy.blocks_per_sm},
        {"warps_per_sm", kernel.occupancy.warps_per_sm},
        {"limiter", to_string(kernel.occupancy.limiter)}}},
      {"counters", counters_json(kernel.total)},
      {"roofline",
       {{"flops", roof.flops},
        {"dram_bytes", roof.dram_bytes},
        {"l2_bytes", roof.l2_bytes},
        {"peak_flops", roof.peak_flops},
        {"dram_bytes_per_second", roof.dram_rate},
        {"l2_bytes_per_second", roof.l2_rate},
        {"format", roof.format},
        {"checked", roof.checked}}},
      {"lines", json::array()},
      {"advice", json::array()},
      {"metrics", json::object()},
  };
  out["widths"] = kernel.machine_code ? "machine code" : "model";
  if (!kernel.no_machine_code.empty()) out["no_machine_code"] = kernel.no_machine_code;
  if (!kernel.not_sampled.empty()) out["not_sampled"] = kernel.not_sampled;
  if (kernel.modelled) {
    out["modelled_us"] = kernel.modelled->us;
    out["modelled_low_us"] = kernel.modelled->low_us;
    out["modelled_high_us"] = kernel.modelled->high_us;
    out["bound"] = kernel.modelled->bound;
    out["checked"] = kernel.modelled->checked;
    out["modelled"] = modelled_text(kernel, gpu);
  }
  out["time_cycles"] = total;
  for (size_t i = 0; i < kParts; ++i)
    if (time.cycles[i] > 0) out["cycles"][name_of(Part(i))] = time.cycles[i];
  std::map<std::string, uint64_t> units;
  for (const Instruction& one : kernel.instructions)
    units[one.unit.empty() ? "other" : one.unit] += one.counters.warps;
  out["units"] = units;
  for (const Metric& metric : all_metrics())
    if (const auto value = metric.of(kernel)) out["metrics"][metric.name] = *value;
  for (const Advice& one : advice) out["advice"].push_back(advice_json(one));
  for (const Line& line : kernel.lines) {
    json entry = {{"line", line.line},
                  {"text", line.text},
                  {"share", total > 0 ? line.cost / total : 0},
                  {"counters", counters_json(line.counters)},
                  {"instructions", json::array()}};
    if (!line.file.empty()) entry["file"] = line.file;
    if (line.unclear) entry["widths"] = "model";
    if (const std::string inside = functions_on(of, line); !inside.empty())
      entry["inside"] = inside;
    for (const size_t i : line.instructions)
      entry["instructions"].push_back(instruction_json(kernel.instructions[i]));
    out["lines"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace

json to_json(const Profile& profile, const GpuSpec& gpu) {
  json kernels = json::array();
  for (const Kernel& kernel : profile.kernels) kernels.push_back(kernel_json(kernel, gpu));
  const bool all = std::ranges::all_of(profile.kernels, &Kernel::machine_code);
  return {{"widths", all ? "machine code" : "model"},
          {"widths_note", widths_note(profile)},
          {"kernels", std::move(kernels)}};
}

}  // namespace ridge::tools::profile
