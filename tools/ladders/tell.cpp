#include <cstdio>

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

void tell(const Answer& answer) {
  std::printf("%s\n", line_of(answer).c_str());
  std::fflush(stdout);
}

int fail(const Status& status) {
  tell(Failure{status.message(), status.code()});
  return status.code() == 2 || status.code() == 8 ? status.code() : 4;
}

// What is as the description has it by default is left out: one case has one description.
CaseAnswer describe(const Loaded& loaded, const Case& c, const Workload& workload) {
  CaseAnswer out;
  out.operator_ = loaded.op->name;
  out.family = loaded.ladder->family;
  out.dtype = name_of(c.dtype);
  out.shape = shape_text(c.shape);
  out.settings = settings_text(c);
  out.seed = c.seed;
  out.unit = loaded.ladder->unit;
  out.read = workload.cost.read;
  out.written = workload.cost.written;
  out.flops = workload.cost.flops;
  if (workload.cost.arithmetic != Arithmetic::f32)
    out.arithmetic = name_of(workload.cost.arithmetic);
  out.to_device = workload.cost.to_device;
  out.to_host = workload.cost.to_host;
  for (const auto& [name, dtype] : c.formats) out.asked.formats[name] = name_of(dtype);
  for (const ParameterDef& p : c.def->parameters)  // of those that the shape does not give
    if (c.def->dimension_index(p.name) < 0 && c.number(p.name) != p.otherwise)
      out.asked.parameters[p.name] = text_or_number(p, c.number(p.name));
  if (!c.distribution.empty() && c.distribution != c.def->distributions.front())
    out.asked.distribution = c.distribution;
  out.asked.with = c.with;
  out.asked.transposed = c.transposed;
  for (const auto& [output, input] : c.same) out.asked.same[output] = input;
  return out;
}

Expected<Loaded> load_operator(const std::string& name) {
  const OperatorDef* const op = find_operator(name);
  if (!op) return Error{2, "there is no operator '" + name + "'"};
  const auto ladder = load_family(op->family);
  if (!ladder) return ladder.error();
  return Loaded{*ladder, op};
}

}  // namespace ridge::ladders
