#include "climb_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "climb_numbers.h"
#include "model/figures.h"
#include "terminal.h"

namespace ridge::tools {
namespace {

using Row = std::vector<std::string>;
constexpr const char* kIndent = "  ";

std::string verdict(const Step& step) {
  const std::string_view result = result_of(step);
  if (result == "right") return green(result);
  return result == "not here" ? dim(result) : red(result);
}

// A rung that cannot do the case has a row, unless there are many of them: the lines below the
// table name them all.
bool has_row(const Climb& climb, const Step& step) {
  constexpr auto kFew = 3;
  return step.unsupported.empty() || std::ranges::count_if(climb.steps, [](const Step& s) {
                                       return !s.unsupported.empty();
                                     }) <= kFew;
}

std::string verified_words(const Climb& climb) {
  if (!climb.verified_at.empty() && climb.verified_at != climb.shape)
    return "verified at " + climb.verified_at;
  if (climb.samples == 0) return "";
  return fmt::format(
      "verified on {} samples{}", climb.samples,
      climb.verified_by == "samples and proof" ? ", and proven with whole numbers" : "");
}

void print_title(const MergedClimb& merged, bool from_record) {
  const Climb& climb = merged.climb;
  fmt::print("{} {} {}", bold(climb.operator_), climb.shape, climb.dtype);
  if (!climb.settings.empty()) fmt::print(" {}", climb.settings);
  // A climb that is measured now says once, above all tables, on which GPU.
  std::string words = merged.modelled.device.empty() && !from_record ? "" : origin_words(merged);
  const std::string verified = verified_words(climb);
  if (!words.empty() && !verified.empty()) words += "; ";
  words += verified;
  if (!words.empty()) fmt::print("  {}", dim(words));
  fmt::print("\n");
}

std::string percent(double share, int digits = 0) {
  return fmt::format("{:.{}f} %", 100 * share, digits);
}
// Small numbers keep a digit that tells them apart.
std::string times(double factor) {
  if (factor <= 0) return "";
  return factor < 0.095 ? fmt::format("{:.1g}", factor) : fmt::format("{:.2f}", factor);
}
std::string error_text(double share) {
  const int percents = int(std::lround(100 * share));
  return percents == 0 ? "0 %" : fmt::format("{:+d} %", percents);
}
std::string rate_text(double rate) { return fmt::format("{:.{}f}", rate, rate < 100 ? 1 : 0); }
std::string share_text(double share) {
  if (share <= 0) return "";
  return share < 0.00995 ? fmt::format("{:.1g} %", 100 * share) : percent(share);
}

void print_timed(const MergedClimb& merged) {
  const Climb& climb = merged.climb;
  const Step* rival = best_rival(climb);
  const bool modelled = !merged.modelled.device.empty();
  const auto numbers = numbers_of(climb, Origin::measured, merged.measured.roofs);
  std::vector<Row> rows = {{"rung", "result", "time", "±"}};
  if (modelled) rows[0].insert(rows[0].end(), {"modelled", "±", "error"});
  rows[0].insert(rows[0].end(), {climb.unit, "of roof", "× before",
                                 rival ? "× " + rival->name : "× library", "the idea"});
  std::vector<Align> columns(rows[0].size(), Align::right);
  columns[0] = columns[1] = columns.back() = Align::left;
  for (size_t i = 0; i < climb.steps.size(); ++i) {
    const Step& step = climb.steps[i];
    if (!has_row(climb, step)) continue;
    const Numbers& n = numbers[i];
    const bool timed = n.time.us > 0;
    Row row = {step.rival && timed ? dim(step.name) : step.name,
               step.rival && timed ? "" : verdict(step)};
    row.push_back(timed ? time_text(n.time.us) + (step.by_graph ? "*" : "") : "");
    row.push_back(timed ? percent(n.time.half_width(), 1) : "");
    if (modelled) {
      const Reading m = reading_of(step, Origin::modelled);
      row.push_back(m.us > 0 ? time_text(m.us) : "");
      row.push_back(m.us > 0 ? percent(m.half_width()) : "");
      row.push_back(m.us > 0 && timed ? error_text(m.us / n.time.us - 1) : "");
    }
    row.push_back(timed ? rate_text(n.rate) : "");
    row.push_back(share_text(n.of_roof));
    row.push_back(times(n.before));
    row.push_back(timed && rival && !step.rival ? times(times_faster(climb, step, *rival)) : "");
    row.push_back(step.rival && timed ? "" : step.idea);
    rows.push_back(std::move(row));
  }
  fmt::print("{}", table(rows, columns, kIndent));
}

// What the roof is, where it is arithmetic's: that was not measured here.
void print_floor(const Climb& climb, const ladders::RoofsAnswer& roofs) {
  const ClimbFloor floor = floor_for(climb, roofs);
  if (floor.us <= 0 || floor.by == "memory") return;
  fmt::print("  {}\n",
             dim(fmt::format("roof: {}, {:.1f} T {} operations per second{}", time_text(floor.us),
                             floor.rate / 1e12, floor.by,
                             roofs.unchecked ? fmt::format(", {}", model::kUnchecked) : "")));
}

void print_footnote(const Climb& climb, bool modelled) {
  if (std::ranges::none_of(climb.steps, &Step::by_graph)) return;
  const char* how =
      modelled ? "as one of 32 launches in a graph" : "replays of a graph of 32 launches, divided";
  fmt::print("  {}\n", dim(fmt::format("* too short for events: {}", how)));
}

struct Count {
  std::string instructions, before;
};
// How many warp instructions a step takes, and how many times fewer than the one before it.
Count count_of(const Step& step, double& before) {
  if (!step.warp_instructions) return {};
  const double count = double(*step.warp_instructions);
  const Count text = {thousands(*step.warp_instructions), count > 0 ? times(before / count) : ""};
  if (count > 0) before = count;
  return text;
}

void print_counted(const Climb& climb) {
  std::vector<Row> rows = {
      {"rung", "result", "warp instructions", "× before", "bytes per instruction", "the idea"}};
  double before = 0;
  for (const Step& step : climb.steps) {
    if (!has_row(climb, step)) continue;
    const Count count = count_of(step, before);
    const uint64_t warp = step.warp_instructions.value_or(0);
    rows.push_back(
        {step.name, verdict(step), count.instructions, count.before,
         warp > 0 ? fmt::format("{:.1f}", (climb.read + climb.written) / double(warp)) : "",
         step.idea});
  }
  fmt::print(
      "{}",
      table(rows, {Align::left, Align::left, Align::right, Align::right, Align::right, Align::left},
            kIndent));
}

// The long texts of a row: what stands in a column of its own where the terminal is wide enough,
// and in a line of its own below the row where it is not.
struct Words {
  std::string column, line;
};

void print_with_words(const std::vector<Row>& rows, std::vector<Align> columns,
                      const std::vector<std::vector<Words>>& words) {
  const auto with = [&](size_t count) {
    std::vector<Row> wider = rows;
    for (size_t r = 0; r < rows.size(); ++r)
      for (size_t w = 0; w < count; ++w) wider[r].push_back(words[r][w].column);
    return wider;
  };
  size_t count = words[0].size();
  // A last column in which nothing stands is none.
  while (count > 0 && std::none_of(words.begin() + 1, words.end(),
                                   [&](const auto& row) { return !row[count - 1].column.empty(); }))
    --count;
  while (count > 0 && table_width(with(count), kIndent) > screen_width()) --count;
  columns.resize(columns.size() + count, Align::left);
  const std::string text = table(with(count), columns, kIndent);
  size_t row = 0;
  for (size_t at = 0; at < text.size(); ++row) {
    const size_t end = text.find('\n', at) + 1;
    fmt::print("{}", text.substr(at, end - at));
    at = end;
    for (size_t w = count; w < words[row].size(); ++w)
      if (!words[row][w].line.empty())
        fmt::print("{}", table({{dim(words[row][w].line)}}, {Align::left}, "    "));
  }
}

void print_modelled(const MergedClimb& merged, bool instructions) {
  const Climb& climb = merged.climb;
  const auto numbers = numbers_of(climb, Origin::modelled, merged.modelled.roofs);
  std::vector<Row> rows = {
      {"rung", "result", "time", "±", climb.unit, "of roof", "× before", "bound by"}};
  std::vector<Align> columns(rows[0].size(), Align::right);
  columns[0] = columns[1] = columns.back() = Align::left;
  if (instructions) {
    // They were counted where the rungs were verified.
    const bool elsewhere = !climb.verified_at.empty() && climb.verified_at != climb.shape;
    rows[0].push_back("warp instructions" + (elsewhere ? " at " + climb.verified_at : ""));
    rows[0].push_back("× fewer");
    columns.resize(rows[0].size(), Align::right);
  }
  std::vector<std::vector<Words>> words = {{{"the idea", ""}, {"why that bound", ""}}};
  double before = 0;
  for (size_t i = 0; i < climb.steps.size(); ++i) {
    const Step& step = climb.steps[i];
    if (!has_row(climb, step)) continue;
    const Numbers& n = numbers[i];
    Row row = {step.name, verdict(step), "", "", "", "", "", ""};
    if (n.time.us > 0)
      row = {step.name,
             verdict(step),
             time_text(n.time.us) + (step.by_graph ? "*" : ""),
             percent(n.time.half_width()),
             rate_text(n.rate),
             share_text(n.of_roof),
             times(n.before),
             bound_words(step.bound)};
    if (instructions) {
      const Count count = count_of(step, before);
      row.insert(row.end(), {count.instructions, count.before});
    }
    rows.push_back(std::move(row));
    words.push_back(
        {{step.idea, step.idea},
         {step.why,
          step.why.empty() ? "" : fmt::format("by {}: {}", bound_words(step.bound), step.why)}});
  }
  print_with_words(rows, columns, words);
}

// One line per reason, with all rungs that have it.
void print_unsupported(const Climb& climb) {
  std::vector<std::pair<std::string, std::string>> rungs_by_reason;
  for (const Step& step : climb.steps) {
    if (step.unsupported.empty()) continue;
    const auto known =
        std::ranges::find(rungs_by_reason, step.unsupported, [](const auto& r) { return r.first; });
    if (known == rungs_by_reason.end()) rungs_by_reason.emplace_back(step.unsupported, step.name);
    else known->second += ", " + step.name;
  }
  for (const auto& [reason, rungs] : rungs_by_reason)
    fmt::print("{}", table({{dim(fmt::format("not for this: {} ({})", rungs, reason))}},
                           {Align::left}, kIndent));
}

void print_problems(const Climb& climb) {
  for (const Step& step : climb.steps) {
    if (!step.wrong.empty()) fmt::print("  {} {}: {}\n", red("wrong:"), step.name, step.wrong);
    if (!step.failed.empty()) fmt::print("  {} {}: {}\n", red("failed:"), step.name, step.failed);
    if (step.implausible_under > 0)
      fmt::print("  {} {} is faster than memory can be ({:.1f} µs): the measurement is wrong\n",
                 red("implausible:"), step.name, step.implausible_under);
  }
  print_unsupported(climb);
}

}  // namespace

std::string bound_words(const std::string& bound) {
  if (bound == "l2") return "L2";
  if (bound == "l1_shared") return "L1/shared";
  if (bound == "fma" || bound == "fp64" || bound == "sfu") {
    std::string upper = bound;
    for (char& c : upper) c = char(std::toupper(c));
    return upper;
  }
  return bound;
}

std::string origin_words(const MergedClimb& merged) {
  std::string words;
  if (!merged.modelled.device.empty())
    words =
        fmt::format("modelled for {}, {}{}", merged.modelled.device, band_text(merged.climb),
                    merged.modelled.roofs.unchecked ? fmt::format(", {}", model::kUnchecked) : "");
  if (merged.measured.device.empty()) return words;
  return words + (words.empty() ? "" : "; ") + "measured on " + merged.measured.device;
}

void print_climb(const MergedClimb& merged, const TableOptions& options) {
  print_title(merged, options.from_record);
  if (!merged.measured.device.empty()) print_timed(merged);
  else if (!merged.modelled.device.empty()) print_modelled(merged, options.instructions);
  else if (options.software) print_counted(merged.climb);
  else print_timed(merged);
  const bool modelled = merged.measured.device.empty();
  if (!merged.is_counted())
    print_floor(merged.climb, (modelled ? merged.modelled : merged.measured).roofs);
  print_footnote(merged.climb, modelled);
  print_problems(merged.climb);
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace ridge::tools
