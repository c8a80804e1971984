#include "climb_record.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "harness/statistics.h"
#include "old_names.h"
#include "verb.h"

namespace ridge::tools {

using nlohmann::json;

double median(std::vector<double> samples) { return harness::summarize(std::move(samples)).median; }

double times_faster(const Climb& climb, const Step& rung, const Step& rival) {
  if (rival.beside_us.empty()) return median(rival.us) / median(rung.us);
  const double there = median(rival.us) / median(rival.beside_us);
  for (const Step& step : climb.steps)
    if (!step.rival && step.name == rival.beside && !step.us.empty())
      return there * median(step.us) / median(rung.us);
  return there;
}

// Copies, where both are moved; a stream of one kind has a roof of its own.
double Roofs::for_climb(const Climb& climb) const {
  const double total = climb.read + climb.written;
  if (!climb.memory_us.empty()) return total / median(climb.memory_us) * 1e6;
  if (climb.written < 0.05 * total) return read;
  if (climb.read < 0.05 * total) return write;
  return copy;
}

bool is_same_case(const Climb& a, const Climb& b) {
  return a.operator_ == b.operator_ && a.dtype == b.dtype && a.shape == b.shape &&
         a.asked == b.asked;
}

json to_json(const ClimbRecord& record) {
  json out = record.environment;
  if (record.roofs.copy > 0)
    out["roofs"] = {{"copy", record.roofs.copy},
                    {"read", record.roofs.read},
                    {"write", record.roofs.write},
                    {"pins", record.roofs.pins},
                    {"weather", record.roofs.weather}};
  out["climbs"] = json::array();
  for (const Climb& climb : record.climbs) {
    json steps = json::array();
    for (const Step& step : climb.steps) {
      json s = {{"name", step.name}};
      if (step.rival) s["rival"] = true;
      else s["idea"] = step.idea;
      if (!step.wrong.empty()) s["wrong"] = step.wrong;
      if (!step.unsupported.empty()) s["unsupported"] = step.unsupported;
      if (!step.failed.empty()) s["failed"] = step.failed;
      if (!step.us.empty()) {
        const harness::Summary summary = harness::summarize(step.us);
        s["median_us"] = summary.median;
        s["q1_us"] = summary.q1;
        s["q3_us"] = summary.q3;
        s["us"] = step.us;
        if (!step.beside.empty()) s["beside"] = step.beside, s["beside_us"] = step.beside_us;
        s["by_graph"] = step.by_graph;
        if (step.implausible_under > 0) s["implausible_under_us"] = step.implausible_under;
      }
      if (step.warp_instructions) s["warp_instructions"] = *step.warp_instructions;
      if (step.thread_instructions) s["thread_instructions"] = *step.thread_instructions;
      steps.push_back(s);
    }
    out["climbs"].push_back({{"operator", climb.operator_},
                             {"dtype", climb.dtype},
                             {"shape", climb.shape},
                             {"seed", climb.seed},
                             {"unit", climb.unit},
                             {"verified_at", climb.verified_at},
                             {"verified_by", climb.verified_by},
                             {"read", climb.read},
                             {"written", climb.written},
                             {"flops", climb.flops},
                             {"steps", steps}});
    if (climb.samples > 0) out["climbs"].back()["samples"] = climb.samples;
    if (!climb.settings.empty()) out["climbs"].back()["settings"] = climb.settings;
    out["climbs"].back().update(climb.asked);
    if (!climb.memory_us.empty())
      out["climbs"].back()["memory"] = {
          {"by", climb.memory_by}, {"median_us", median(climb.memory_us)}, {"us", climb.memory_us}};
  }
  return out;
}

namespace {

// Throws where something is not what to_json writes.
ClimbRecord from_json(const json& from) {
  ClimbRecord record = {.environment = from, .roofs = {}, .climbs = {}};
  record.environment.erase("climbs");
  if (record.environment.contains("device"))
    (void)record.environment["device"].get_ref<const json::object_t&>();
  for (const json& c : from.at("climbs").get_ref<const json::array_t&>()) {
    Climb climb = {.operator_ = c.value("operator", ""),
                   .dtype = c.value("dtype", ""),
                   .shape = c.value("shape", ""),
                   .settings = c.value("settings", ""),
                   .asked = json::object(),
                   .unit = c.value("unit", "GB/s"),
                   .verified_at = c.value("verified_at", ""),
                   .verified_by = c.value("verified_by", "reference"),
                   .samples = c.value("samples", int64_t(0)),
                   .seed = c.value("seed", uint64_t(1)),
                   .read = c.value("read", 0.0),
                   .written = c.value("written", 0.0),
                   .flops = c.value("flops", 0.0),
                   .memory_us = {},
                   .memory_by = {},
                   .steps = {}};
    for (const char* key : kAskedKeys)
      if (c.contains(key)) climb.asked[key] = c[key];
    if (c.contains("memory")) {
      climb.memory_us = c["memory"].value("us", std::vector<double>());
      climb.memory_by = c["memory"].value("by", "");
    }
    for (const json& s : c.value("steps", json::array())) {
      Step step;
      step.name = s.value("name", "");
      step.rival = s.value("rival", false);
      step.us = s.value("us", std::vector<double>());
      step.beside = s.value("beside", "");
      step.beside_us = s.value("beside_us", std::vector<double>());
      if (s.contains("warp_instructions")) step.warp_instructions = s["warp_instructions"];
      climb.steps.push_back(std::move(step));
    }
    rename_old(climb);
    record.climbs.push_back(std::move(climb));
  }
  return record;
}

}  // namespace

Expected<ClimbRecord> read_climb_record(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{kUsage, fmt::format("cannot read {}", file)};
  std::stringstream text;
  text << in.rdbuf();  // of a folder there is nothing to read
  const json from = json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  try {
    return from_json(from);
  } catch (const json::exception&) {  // something has another type than we wrote
    return Error{kUsage, fmt::format("{} is no record of a climb", file)};
  }
}

std::string_view result_of(const Step& step) {
  if (!step.wrong.empty()) return "wrong";
  if (!step.unsupported.empty()) return "not here";
  if (!step.failed.empty()) return "failed";
  if (step.implausible_under > 0) return "implausible";
  return step.rival ? "" : "right";
}

std::string to_csv(const ClimbRecord& record) {
  std::string text =
      "operator,dtype,shape,settings,rung,rival,result,median_us,q1_us,q3_us,samples,bytes,flops,"
      "warp_instructions\n";
  for (const Climb& climb : record.climbs)
    for (const Step& step : climb.steps) {
      const harness::Summary s = harness::summarize(step.us);
      const auto number = [&](double x) { return step.us.empty() ? "" : fmt::format("{:.4f}", x); };
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f},{}\n", climb.operator_,
                          climb.dtype, climb.shape, climb.settings, step.name, int(step.rival),
                          result_of(step), number(s.median), number(s.q1), number(s.q3), s.samples,
                          climb.read + climb.written, climb.flops,
                          step.warp_instructions ? std::to_string(*step.warp_instructions) : "");
    }
  return text;
}

}  // namespace ridge::tools
