// ridge explain OPERATOR: which rung the library takes for a shape, and why not the others.
#include <fmt/format.h>

#include "flags.h"
#include "ladders.h"
#include "record.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

void print_choice(const nlohmann::json& line, const Target& target) {
  fmt::print("{} {} {} on {}{}\n\n", bold(line["operator"].get<std::string>()),
             line["shape"].get<std::string>(), line["dtype"].get<std::string>(), target.name,
             target.software ? " (software GPU)" : "");
  const std::string chosen = line["chosen"];
  const double floor_us = line["floor_us"];
  fmt::print("  moves {} at least, {:.1f} µs at the pins' bandwidth\n\n",
             bytes(static_cast<long long>(line["bytes"].get<double>())), floor_us);
  std::vector<std::vector<std::string>> rows = {{"", "rung", "predicted", "", "the idea"}};
  for (const auto& c : line["candidates"]) {
    const bool taken = c["rung"] == chosen;
    const std::string predicted =
        c.contains("predicted_us") ? fmt::format("{:.1f} µs", c["predicted_us"].get<double>()) : "";
    const std::string why = c.contains("rejected") ? "cannot: " + c["rejected"].get<std::string>()
                            : c.contains("lesson") ? "a lesson"
                            : taken                ? "least"
                                                   : "";
    rows.push_back({taken ? "→" : "",
                    taken ? green(c["rung"].get<std::string>()) : c["rung"].get<std::string>(),
                    predicted, why, c["idea"]});
  }
  fmt::print("{}",
             table(rows, {Align::left, Align::left, Align::right, Align::left, Align::left}, "  "));
  if (line["study"])
    fmt::print("\n  A study: its rungs are lessons, and the library has no call for it.\n");
  else if (chosen.empty()) fmt::print("\n  No rung can do this.\n");
}

int explain_main(const Arguments& arguments) {
  DeviceFlags flags;
  std::string name, shape, dtype, json;
  CommandLine line("explain", "Says which rung the library takes for a shape, and why.");
  line.add_argument("OPERATOR", name, "as `ridge list` shows it");
  line.add_option("--shape", shape, "NxM", "the sizes, as in 8192x50257");
  line.add_option("--dtype", dtype, "NAME", "f32, f16, bf16, …");
  line.add_device(flags);
  line.add_json(json);
  if (const auto done = line.parse(arguments)) return *done;
  if (name.empty()) {
    complain("explain what? usage: ridge explain OPERATOR [--shape NxM] [--dtype NAME]");
    return kUsage;
  }
  const auto target = choose_target(flags);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  const auto ladders = list_ladders(*target);
  Status status = ladders ? check_operators(*ladders, {name}) : Status(ladders.error());
  std::vector<std::string> command = {"explain", name};
  if (!shape.empty()) command.insert(command.end(), {"--shape", shape});
  if (!dtype.empty()) command.insert(command.end(), {"--dtype", dtype});
  nlohmann::json answer;
  if (status)
    status = ask_ladders(*target, command, [&](const nlohmann::json& heard) { answer = heard; });
  if (status && !json.empty()) status = write_record(answer, json);
  if (status && json != "-") print_choice(answer, *target);
  if (status) return kFine;
  complain(status.message());
  return status.code();
}

}  // namespace

extern const Verb explain_verb = {
    .position = 60,
    .name = "explain",
    .summary = "which rung the library takes for a shape, and why",
    .main = explain_main,
};

}  // namespace ridge::tools
