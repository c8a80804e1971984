#include <cstdio>

#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {

using nlohmann::json;

namespace {

// As it is said on the command line.
json text_or_number(const ParameterDef& p, double value) {
  if (p.type == ParameterType::number) return value;
  if (p.type == ParameterType::choice) return p.choices[size_t(value)];
  return int64_t(value);
}

}  // namespace

void tell(const json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// What is as the description has it by default is left out: one case has one description.
json describe(const Loaded& loaded, const Case& c, const Workload& workload) {
  json out = {{"operator", loaded.op->name},
              {"family", loaded.ladder->family},
              {"dtype", name_of(c.dtype)},
              {"shape", shape_text(c.shape)},
              {"settings", settings_text(c)},
              {"seed", c.seed},
              {"unit", loaded.ladder->unit},
              {"read", workload.cost.read},
              {"written", workload.cost.written},
              {"flops", workload.cost.flops},
              {"to_device", workload.cost.to_device},
              {"to_host", workload.cost.to_host}};
  for (const auto& [name, dtype] : c.formats) out["formats"][name] = name_of(dtype);
  for (const ParameterDef& p : c.def->parameters)  // of those that the shape does not give
    if (c.def->dimension_index(p.name) < 0 && c.number(p.name) != p.otherwise)
      out["parameters"][p.name] = text_or_number(p, c.number(p.name));
  if (!c.distribution.empty() && c.distribution != c.def->distributions.front())
    out["distribution"] = c.distribution;
  for (const auto& [output, input] : c.same) out["same"][output] = input;
  return out;
}

}  // namespace ridge::ladders
