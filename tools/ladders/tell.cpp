#include <cstdio>

#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {

using nlohmann::json;

void tell(const json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

json describe(const Operator& op, const Case& c, const Workload& workload) {
  return {{"operator", op.ladder->operators[size_t(op.op)]},
          {"family", op.ladder->family},
          {"dtype", name_of(c.dtype)},
          {"shape", shape_text(c.shape)},
          {"seed", c.seed},
          {"unit", op.ladder->unit},
          {"read", workload.cost.read},
          {"written", workload.cost.written},
          {"flops", workload.cost.flops},
          {"to_device", workload.cost.to_device},
          {"to_host", workload.cost.to_host}};
}

}  // namespace ridge::ladders
