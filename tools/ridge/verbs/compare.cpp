// ridge compare a.json b.json: what became faster, slower, stayed, or cannot be told.
#include <optional>

#include <fmt/format.h>

#include "climb_record.h"
#include "flags.h"
#include "harness/statistics.h"
#include "record.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

const Step* find(const ClimbRecord& record, const Climb& climb, const Step& step) {
  for (const Climb& other : record.climbs)
    if (is_same_case(other, climb))
      for (const Step& candidate : other.steps)
        if (candidate.name == step.name && candidate.rival == step.rival) return &candidate;
  return nullptr;
}

const char* word(harness::Change change) {
  switch (change) {
    case harness::Change::faster: return "faster";
    case harness::Change::slower: return "slower";
    case harness::Change::same: return "same";
    case harness::Change::unclear: return "can't tell";
  }
  return "";
}

nlohmann::json row_of(const Climb& climb, const Step& step) {
  nlohmann::json row = {{"operator", climb.operator_},
                        {"dtype", climb.dtype},
                        {"shape", climb.shape},
                        {"rung", step.name}};
  row.update(nlohmann::json(climb.asked));
  return row;
}

std::string shape_and_settings(const Climb& climb) {
  return climb.settings.empty() ? climb.shape : climb.shape + " " + climb.settings;
}

std::string coloured(harness::Change change) {
  if (change == harness::Change::faster) return green(word(change));
  if (change == harness::Change::slower) return red(word(change));
  return word(change);
}

// One step of both records.
struct Compared {
  std::string before, after, interval, verdict;
  nlohmann::json json;
};

Compared compare_samples(const Step& old, const Step& step) {
  const auto c = harness::compare(old.us, step.us);
  return {
      .before = fmt::format("{:.2f} µs", median(old.us)),
      .after = fmt::format("{:.2f} µs", median(step.us)),
      .interval = fmt::format("{:.3f} … {:.3f}", c.low, c.high),
      .verdict = coloured(c.change),
      .json = {{"ratio", c.ratio}, {"low", c.low}, {"high", c.high}, {"change", word(c.change)}}};
}

harness::Change change_by(double ratio, double threshold) {
  if (ratio < 1 - threshold) return harness::Change::faster;
  return ratio > 1 + threshold ? harness::Change::slower : harness::Change::same;
}

// The model says the same of the same program, so there is no interval.
Compared compare_modelled(const Step& old, const Step& step) {
  const double ratio = *step.modelled_us / *old.modelled_us;
  const auto change = change_by(ratio, 0.01);
  return {.before = fmt::format("{:.2f} µs", *old.modelled_us),
          .after = fmt::format("{:.2f} µs", *step.modelled_us),
          .interval = "modelled",
          .verdict = coloured(change),
          .json = {{"ratio", ratio}, {"change", word(change)}}};
}

Compared compare_counted(const Step& old, const Step& step) {
  const uint64_t now = *step.warp_instructions, then = *old.warp_instructions;
  const double ratio = now == then ? 1 : double(now) / double(then);
  return {.before = thousands(then),
          .after = thousands(now),
          .interval = "counted",
          .verdict = ratio == 1  ? "same"
                     : ratio < 1 ? green("fewer")
                                 : red("more"),
          .json = {{"ratio", ratio}, {"change", word(change_by(ratio, 0))}}};
}

// None: there is nothing that both have.
std::optional<Compared> compare_step(const Step& old, const Step& step) {
  if (!old.us.empty() && !step.us.empty()) return compare_samples(old, step);
  if (old.modelled_us && step.modelled_us) return compare_modelled(old, step);
  if (old.warp_instructions && step.warp_instructions) return compare_counted(old, step);
  return std::nullopt;
}

int compare_main(const Arguments& arguments) {
  std::vector<std::string> files;
  std::string json;
  CommandLine line(
      "compare",
      "Compares two records of climbs, rung by rung: measured times from their samples, or "
      "modelled times.");
  line.add_arguments("FILE", files, "two records: before and after");
  line.add_json(json);
  line.add_footer(
      "A rung counts as changed only if its time differs by more than 1 %, by the 95 % interval of "
      "the ratio of medians.");
  if (const auto done = line.parse(arguments)) return *done;
  if (files.size() != 2) {
    complain("compare which? usage: ridge compare before.json after.json");
    return kUsage;
  }
  const auto before = read_climb_record(files[0]), after = read_climb_record(files[1]);
  for (const auto* record : {&before, &after})
    if (!*record) return failed(record->error());
  const auto device = [](const ClimbRecord& r) {
    return r.environment.value("/device/name"_json_pointer, std::string("?"));
  };
  if (device(*before) != device(*after))
    complain(fmt::format("note: two devices, {} and {}", device(*before), device(*after)));

  std::vector<std::vector<std::string>> rows = {{"operator", "dtype", "shape", "rung", "before",
                                                 "after", "after/before", "95 % interval", ""}};
  nlohmann::json out = {{"schema", 1}, {"rows", nlohmann::json::array()}};
  int missing = 0;
  bool mixed = false;  // a rung is modelled here and measured there
  for (const Climb& climb : after->climbs)
    for (const Step& step : climb.steps) {
      const Step* old = find(*before, climb, step);
      if (!old) {
        ++missing;
        continue;
      }
      const auto compared = compare_step(*old, step);
      mixed |= !compared &&
               ((old->modelled_us && !step.us.empty()) || (step.modelled_us && !old->us.empty()));
      if (!compared) continue;
      rows.push_back({climb.operator_, climb.dtype, shape_and_settings(climb), step.name,
                      compared->before, compared->after,
                      fmt::format("{:.3f}", compared->json["ratio"].get<double>()),
                      compared->interval, compared->verdict});
      out["rows"].push_back(row_of(climb, step));
      out["rows"].back().update(compared->json);
    }
  if (!json.empty())
    if (const Status written = write_record(out, json); !written) return failed(written);
  if (json == "-") return kFine;
  if (rows.size() == 1) {
    complain(mixed ? fmt::format(
                         "one record is modelled, the other one measured; `ridge climb --from {} "
                         "--from {}` shows them beside each other",
                         files[0], files[1])
                   : "the two records have no rung at the same size in common");
    return kUsage;
  }
  fmt::print("{}", table(rows, {Align::left, Align::left, Align::left, Align::left, Align::right,
                                Align::right, Align::right, Align::left, Align::left}));
  if (missing) fmt::print("\n{} rungs of {} are not in {}.\n", missing, files[1], files[0]);
  return kFine;
}

}  // namespace

extern const Verb compare_verb = {
    .position = 70,
    .name = "compare",
    .summary = "compare two records of climbs: faster, slower, same, can't tell",
    .main = compare_main,
};

}  // namespace ridge::tools
