#include "climb_table.h"

#include <fmt/format.h>

#include "harness/statistics.h"
#include "model/figures.h"
#include "terminal.h"

namespace ridge::tools {
namespace {

std::string time_text(double us) {
  if (us < 10) return fmt::format("{:.2f} µs", us);
  if (us < 1000) return fmt::format("{:.1f} µs", us);
  return fmt::format("{:.2f} ms", us / 1e3);
}

double rate(const Climb& climb, double us) {  // in climb.unit
  if (climb.unit == "TFLOP/s") return climb.flops / us / 1e6;
  if (climb.unit == "GOP/s" || climb.unit == "GFLOP/s") return climb.flops / us / 1e3;
  return (climb.read + climb.written) / us / 1e3;
}

// The one that leaves our fastest rung the least.
const Step* best_rival(const Climb& climb) {
  const Step* fastest = nullptr;
  for (const Step& step : climb.steps)
    if (!step.rival && !step.us.empty() && (!fastest || median(step.us) < median(fastest->us)))
      fastest = &step;
  const Step* best = nullptr;
  for (const Step& step : climb.steps)
    if (fastest && step.rival && !step.us.empty() &&
        (!best || times_faster(climb, *fastest, step) < times_faster(climb, *fastest, *best)))
      best = &step;
  return best;
}

std::string verdict(const Step& step) {
  const std::string_view result = result_of(step);
  if (result == "right") return green(result);
  return result == "not here" ? dim(result) : red(result);
}

void print_title(const Climb& climb) {
  fmt::print("{} {} {}", bold(climb.operator_), climb.shape, climb.dtype);
  if (!climb.settings.empty()) fmt::print(" {}", climb.settings);
  if (climb.verified_at != climb.shape) fmt::print("  {}", dim("verified at " + climb.verified_at));
  else if (climb.samples > 0)
    fmt::print("  {}", dim(fmt::format("verified on {} samples{}", climb.samples,
                                       climb.verified_by == "samples and proof"
                                           ? ", and proven with whole numbers"
                                           : "")));
  fmt::print("\n");
}

// A ladder about launches stays far below what the GPU could do: "0.3 %".
std::string share_text(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.00995 ? 1 : 0);
}

// What the roof is, where it is arithmetic's: that was not measured here.
void print_floor(const ClimbFloor& floor, bool unchecked) {
  if (floor.us <= 0 || floor.by == "memory") return;
  fmt::print("  {}\n", dim(fmt::format("roof: {}, {:.1f} T {} operations per second{}",
                                       time_text(floor.us), floor.rate / 1e12, floor.by,
                                       unchecked ? fmt::format(", {}", model::kUnchecked) : "")));
}

void print_timed(const Climb& climb, const ladders::RoofsAnswer& roofs) {
  const Step* rival = best_rival(climb);
  const ClimbFloor floor = floor_for(climb, roofs);
  std::vector<std::vector<std::string>> rows = {
      {"rung", "result", "time", "±", climb.unit, "of roof", "× before",
       rival ? "× " + rival->name : "× library", "the idea"}};
  double before = 0;
  for (const Step& step : climb.steps) {
    if (step.us.empty()) {
      rows.push_back({step.name, verdict(step), "", "", "", "", "", "", step.idea});
      continue;
    }
    const harness::Summary s = harness::summarize(step.us);
    rows.push_back(
        {step.rival ? dim(step.name) : step.name, step.rival ? "" : verdict(step),
         time_text(s.median) + (step.by_graph ? "*" : ""), fmt::format("{:.1f} %", 50 * s.spread()),
         fmt::format("{:.{}f}", rate(climb, s.median), rate(climb, s.median) < 100 ? 1 : 0),
         floor.us > 0 ? share_text(floor.us / s.median) : "",
         before > 0 && !step.rival ? fmt::format("{:.2f}", before / s.median) : "",
         rival && !step.rival ? fmt::format("{:.2f}", times_faster(climb, step, *rival)) : "",
         step.rival ? "" : step.idea});
    if (!step.rival) before = s.median;
  }
  fmt::print("{}", table(rows,
                         {Align::left, Align::left, Align::right, Align::right, Align::right,
                          Align::right, Align::right, Align::right, Align::left},
                         "  "));
  print_floor(floor, roofs.unchecked);
  for (const Step& step : climb.steps)
    if (step.by_graph) {
      fmt::print("  {}\n",
                 dim("* too short for events: replays of a graph of 32 launches, divided"));
      break;
    }
}

void print_counted(const Climb& climb) {
  std::vector<std::vector<std::string>> rows = {
      {"rung", "result", "warp instructions", "× before", "bytes per instruction", "the idea"}};
  double before = 0;
  for (const Step& step : climb.steps) {
    const double count = step.warp_instructions ? double(*step.warp_instructions) : 0;
    rows.push_back(
        {step.name, verdict(step), step.warp_instructions ? thousands(*step.warp_instructions) : "",
         before > 0 && count > 0 ? fmt::format("{:.2f}", before / count) : "",
         count > 0 ? fmt::format("{:.1f}", (climb.read + climb.written) / count) : "", step.idea});
    if (count > 0) before = count;
  }
  fmt::print(
      "{}",
      table(rows, {Align::left, Align::left, Align::right, Align::right, Align::right, Align::left},
            "  "));
}

}  // namespace

void print_climb(const Climb& climb, const Target& target, const ladders::RoofsAnswer& roofs) {
  print_title(climb);
  if (target.software) print_counted(climb);
  else print_timed(climb, roofs);
  for (const Step& step : climb.steps) {
    if (!step.wrong.empty()) fmt::print("  {} {}: {}\n", red("wrong:"), step.name, step.wrong);
    if (!step.failed.empty()) fmt::print("  {} {}: {}\n", red("failed:"), step.name, step.failed);
    if (!step.unsupported.empty())
      fmt::print("  {}\n", dim(step.name + " is not for this: " + step.unsupported));
    if (step.implausible_under > 0)
      fmt::print("  {} {} is faster than memory can be ({:.1f} µs): the measurement is wrong\n",
                 red("implausible:"), step.name, step.implausible_under);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace ridge::tools
