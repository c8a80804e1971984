#include <cstdio>

#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {

using nlohmann::json;

void tell(const json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

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
  for (const auto& [name, value] : c.parameters)
    if (c.def->dimension_index(name) < 0) out["parameters"][name] = value;
  if (!c.distribution.empty()) out["distribution"] = c.distribution;
  return out;
}

}  // namespace ridge::ladders
