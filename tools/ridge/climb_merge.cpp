#include "climb_merge.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "climb_numbers.h"
#include "verb.h"

namespace ridge::tools {
namespace {

Source source_of(const ClimbRecord& record) {
  const auto device = record.environment.value("device", nlohmann::json::object());
  return {.device = device.value("name", "an unknown GPU"),
          .date = record.environment.value("date", ""),
          .hot = record.environment.value("cache", "cold") == "hot",
          .roofs = record.roofs};
}

Status add_step(Climb& climb, const Step& step) {
  const auto known = std::ranges::find_if(climb.steps, [&](const Step& one) {
    return one.name == step.name && one.rival == step.rival;
  });
  if (known == climb.steps.end()) {
    climb.steps.push_back(step);
    return Status::ok();
  }
  const auto twice = [&](const char* kind) {
    return Error{kUsage, fmt::format("two of the records have a {} time of {}, {} {} {}: give one "
                                     "of them, or set them side by side with `ridge compare`",
                                     kind, step.name, climb.operator_, climb.shape, climb.dtype)};
  };
  if (!known->us.empty() && !step.us.empty()) return twice("measured");
  if (known->modelled_us && step.modelled_us) return twice("modelled");
  Step both = known->us.empty() ? step : *known;  // the one with samples knows more of a rung
  const Step& other = known->us.empty() ? *known : step;
  if (!both.modelled_us) {
    both.modelled_us = other.modelled_us;
    both.modelled_low_us = other.modelled_low_us;
    both.modelled_high_us = other.modelled_high_us;
    both.bound = other.bound;
    both.why = other.why;
    both.by_graph |= other.by_graph;
  }
  if (!both.warp_instructions) both.warp_instructions = other.warp_instructions;
  if (!both.thread_instructions) both.thread_instructions = other.thread_instructions;
  if (both.idea.empty()) both.idea = other.idea;
  if (both.wrong.empty()) both.wrong = other.wrong;
  *known = both;
  return Status::ok();
}

// Rungs first, each list in its own order: a rung that only the later record has comes last.
void put_rivals_last(Climb& climb) {
  std::ranges::stable_partition(climb.steps, [](const Step& step) { return !step.rival; });
}

Status add_climb(MergedClimb& merged, const MergedClimb& more) {
  if (merged.measured.device.empty()) merged.measured = more.measured;
  if (merged.modelled.device.empty()) merged.modelled = more.modelled;
  if (merged.climb.memory.us.empty()) merged.climb.memory = more.climb.memory;
  // Early records count no operations.
  merged.climb.flops = std::max(merged.climb.flops, more.climb.flops);
  for (const Step& step : more.climb.steps)
    if (const Status added = add_step(merged.climb, step); !added) return added;
  put_rivals_last(merged.climb);
  return Status::ok();
}

}  // namespace

MergedClimb merged_of(const Climb& climb, const ClimbRecord& record) {
  MergedClimb merged = {.climb = climb, .measured = {}, .modelled = {}};
  if (has_any(climb, Origin::measured)) merged.measured = source_of(record);
  if (has_any(climb, Origin::modelled)) merged.modelled = source_of(record);
  return merged;
}

Expected<std::vector<MergedClimb>> merge(const std::vector<ClimbRecord>& records) {
  std::vector<MergedClimb> all;
  for (const ClimbRecord& record : records)
    for (const Climb& climb : record.climbs) {
      const MergedClimb one = merged_of(climb, record);
      const auto known = std::ranges::find_if(
          all, [&](const MergedClimb& other) { return is_same_case(other.climb, climb); });
      if (known == all.end()) all.push_back(one);
      else if (const Status added = add_climb(*known, one); !added) return added.error();
    }
  return all;
}

Expected<std::vector<MergedClimb>> read_and_merge(const std::vector<std::string>& files,
                                                  const std::function<bool(const Climb&)>& wanted) {
  std::vector<ClimbRecord> records;
  for (const std::string& file : files) {
    auto record = read_climb_record(file);
    if (!record) return record.error();
    std::erase_if(record->climbs, [&](const Climb& climb) { return !wanted(climb); });
    records.push_back(std::move(*record));
  }
  auto merged = merge(records);
  if (merged && merged->empty())
    return Error{kUsage, fmt::format("{}: no such climb in there", fmt::join(files, ", "))};
  return merged;
}

}  // namespace ridge::tools
