#include "climb_record.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "harness/statistics.h"
#include "model/roofs.h"
#include "old_names.h"
#include "verb.h"

namespace ridge::tools {

using nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

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
double roof_for(const Climb& climb, const ladders::RoofsAnswer& roofs) {
  const double total = climb.read + climb.written;
  if (!climb.memory.us.empty()) return total / median(climb.memory.us) * 1e6;
  if (climb.written < 0.05 * total) return roofs.read;
  if (climb.read < 0.05 * total) return roofs.write;
  return roofs.copy;
}

ClimbFloor floor_for(const Climb& climb, const ladders::RoofsAnswer& roofs) {
  const double memory = roof_for(climb, roofs), bytes = climb.read + climb.written;
  const std::string kind(climb.arithmetic.empty() ? name_of(Arithmetic::f32) : climb.arithmetic);
  const auto known = roofs.operations.find(kind);
  const double peak = known == roofs.operations.end() ? 0 : known->second;
  // Whose rate is in operations has no roof without their peak: memory would flatter it.
  if (memory <= 0 || (peak <= 0 && climb.unit != "GB/s")) return {};
  const model::Floor floor = model::floor_of(1e6 * bytes / memory, climb.flops, peak);
  if (floor.by_memory) return {floor.us, "memory", memory};
  return {floor.us, kind, peak};
}

void add_roofs_of(const GpuSpec& gpu, ladders::RoofsAnswer& roofs) {
  const model::Roofs data = model::roofs_of(gpu);
  if (roofs.copy <= 0) {
    roofs.copy = data.copy;
    roofs.read = data.read;
    roofs.write = data.write;
    roofs.pins = data.pins;
  }
  for (size_t i = 0; i < kArithmetics; ++i)
    roofs.operations[std::string(kArithmeticNames[i])] = data.ops[i];
  roofs.unchecked = !data.checked;
}

bool is_same_case(const Climb& a, const Climb& b) {
  return a.operator_ == b.operator_ && a.dtype == b.dtype && a.shape == b.shape &&
         a.asked == b.asked;
}

json to_json(const ClimbRecord& record) {
  json out = record.environment;
  if (record.roofs.copy > 0) out["roofs"] = record.roofs;
  out["climbs"] = json::array();
  for (const Climb& climb : record.climbs) {
    json c = static_cast<const ladders::CaseAnswer&>(climb);
    c["steps"] = json::array();
    for (const Step& step : climb.steps) {
      c["steps"].push_back(step);
      if (step.us.empty()) continue;
      const harness::Summary summary = harness::summarize(step.us);
      c["steps"].back().update(
          {{"median_us", summary.median}, {"q1_us", summary.q1}, {"q3_us", summary.q3}});
    }
    if (!climb.memory.us.empty()) {
      c["memory"] = climb.memory;
      c["memory"]["median_us"] = median(climb.memory.us);
    }
    out["climbs"].push_back(std::move(c));
  }
  return out;
}

namespace {

// Throws where something is not what to_json writes. Early records lack some of the fields.
ClimbRecord from_json(const json& from) {
  ClimbRecord record = {.environment = from, .roofs = {}, .climbs = {}};
  record.environment.erase("climbs");
  for (const char* object : {"device", "roofs"})
    if (record.environment.contains(object))
      (void)record.environment[object].get_ref<const json::object_t&>();
  for (const char* text : {"date", "cache"}) (void)record.environment.value(text, std::string());
  (void)record.environment.value("/device/name"_json_pointer, std::string());
  record.roofs = from.value("roofs", ladders::RoofsAnswer());
  for (const json& c : from.at("climbs").get_ref<const json::array_t&>()) {
    Climb climb;
    climb.unit = "GB/s";
    climb.verified_by = "reference";
    ladders::from_json(c, climb);
    climb.memory = c.value("memory", ladders::MemoryAnswer());
    climb.steps = c.value("steps", std::vector<Step>());
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
      "warp_instructions,modelled_us,modelled_low_us,modelled_high_us,bound\n";
  for (const Climb& climb : record.climbs)
    for (const Step& step : climb.steps) {
      const harness::Summary s = harness::summarize(step.us);
      const auto number = [&](double x) { return step.us.empty() ? "" : fmt::format("{:.4f}", x); };
      const auto modelled = [](const std::optional<double>& x) {
        return x ? fmt::format("{:.4f}", *x) : "";
      };
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f},{},{},{},{},{}\n",
                          climb.operator_, climb.dtype, climb.shape, climb.settings, step.name,
                          int(step.rival), result_of(step), number(s.median), number(s.q1),
                          number(s.q3), s.samples, climb.read + climb.written, climb.flops,
                          step.warp_instructions ? std::to_string(*step.warp_instructions) : "",
                          modelled(step.modelled_us), modelled(step.modelled_low_us),
                          modelled(step.modelled_high_us), step.bound);
    }
  return text;
}

}  // namespace ridge::tools
