#include "ladder/ladder.h"

#include "ladder/cases.h"

namespace ridge {

std::string shape_text(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

int64_t HostTensor::elements() const { return count(spec.shape); }

Operator find_operator(std::string_view name) {
  for (const Ladder* ladder : all_ladders())
    for (size_t op = 0; op < ladder->operators.size(); ++op)
      if (ladder->operators[op] == name) return {ladder, int(op)};
  for (const Ladder* ladder : all_ladders())
    if (ladder->family == name) return {ladder, 0};
  return {};
}

}  // namespace ridge
