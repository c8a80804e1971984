#include "climb_page.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "climb_numbers.h"
#include "climb_table.h"
#include "model/figures.h"
#include "page.h"
#include "page_parts.h"

namespace ridge::tools {
namespace {

using nlohmann::json;

json time_json(const Numbers& n) {
  json out = {
      {"us", n.time.us}, {"low_us", n.time.low_us}, {"high_us", n.time.high_us}, {"rate", n.rate}};
  if (n.of_roof > 0) out["of_roof"] = n.of_roof;
  if (n.before > 0) out["before"] = n.before;
  return out;
}

json step_json(const Step& step) {
  json out = {{"name", step.name}, {"result", result_of(step)}};
  if (!step.idea.empty()) out["idea"] = step.idea;
  if (step.rival) out["rival"] = true;
  for (const std::string* problem : {&step.wrong, &step.unsupported, &step.failed})
    if (!problem->empty()) out["problem"] = *problem;
  if (step.implausible_under > 0)
    out["problem"] = fmt::format("faster than memory can be ({:.1f} µs)", step.implausible_under);
  if (!step.bound.empty()) out["bound"] = bound_words(step.bound);
  if (!step.why.empty()) out["why"] = step.why;
  if (step.warp_instructions) out["warp_instructions"] = *step.warp_instructions;
  return out;
}

// Measured where it can be: that roof is this card's.
json roof_json(const MergedClimb& merged) {
  const bool measured = !merged.measured.device.empty();
  const ladders::RoofsAnswer& roofs = (measured ? merged.measured : merged.modelled).roofs;
  json out = {{"bytes_per_second", roof_for(merged.climb, roofs)}};
  if (const ClimbFloor floor = floor_for(merged.climb, roofs); floor.us > 0) {
    out["floor_us"] = floor.us;
    out["by"] = floor.by;
  }
  if (const double peak = peak_for(merged.climb, roofs); peak > 0) out["ops_per_second"] = peak;
  return out;
}

json climb_json(const MergedClimb& merged) {
  const Climb& climb = merged.climb;
  json out = {{"operator", climb.operator_},
              {"dtype", climb.dtype},
              {"shape", climb.shape},
              {"unit", climb.unit},
              {"bytes", climb.read + climb.written},
              {"flops", climb.flops},
              {"origin", origin_words(merged)},
              {"roof", roof_json(merged)}};
  if (!climb.settings.empty()) out["settings"] = climb.settings;
  if (!climb.verified_at.empty() && climb.verified_at != climb.shape)
    out["verified_at"] = climb.verified_at;
  const Step* rival = best_rival(climb);
  if (rival) out["rival"] = rival->name;
  const auto measured = numbers_of(climb, Origin::measured, merged.measured.roofs);
  const auto modelled = numbers_of(climb, Origin::modelled, merged.modelled.roofs);
  out["steps"] = json::array();
  for (size_t i = 0; i < climb.steps.size(); ++i) {
    const Step& step = climb.steps[i];
    json& one = out["steps"].emplace_back(step_json(step));
    if (step.by_graph) one["by_graph"] = true;
    if (modelled[i].time.us > 0) one["modelled"] = time_json(modelled[i]);
    if (measured[i].time.us <= 0) continue;
    json& time = one["measured"] = time_json(measured[i]);
    time["samples"] = step.us.size();
    if (rival && !step.rival) time["times_rival"] = times_faster(climb, step, *rival);
  }
  return out;
}

json source_json(const Source& source, const char* kind) {
  json out = {{"kind", kind}, {"device", source.device}};
  if (!source.date.empty()) out["date"] = source.date;
  if (source.hot) out["hot"] = true;
  if (std::string(kind) == "modelled" && source.roofs.unchecked)
    out["unchecked"] = model::kUnchecked;
  return out;
}

}  // namespace

json page_record(const std::vector<MergedClimb>& climbs) {
  json out = {{"ridge", RIDGE_VERSION}, {"sources", json::array()}, {"climbs", json::array()}};
  const auto add = [&](const Source& source, const char* kind) {
    const json one = source_json(source, kind);
    if (!source.device.empty() && std::ranges::count(out["sources"], one) == 0)
      out["sources"].push_back(one);
  };
  for (const MergedClimb& merged : climbs) {
    add(merged.modelled, "modelled");
    add(merged.measured, "measured");
    out["climbs"].push_back(climb_json(merged));
  }
  return out;
}

std::string to_page(const std::vector<MergedClimb>& climbs) {
  return page_of(kClimbPage, page_record(climbs));
}

}  // namespace ridge::tools
