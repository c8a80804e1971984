// ridge explain OPERATOR: which rung the library takes for a shape, and why not the others.
#include <fmt/format.h>

#include "families.h"
#include "flags.h"
#include "ladders.h"
#include "record.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

std::string settings_of(const nlohmann::json& line) {
  const std::string settings = line["settings"];
  return settings.empty() ? "" : " " + settings;
}

void print_choice(const nlohmann::json& line, const Target& target) {
  fmt::print("{} {} {} on {}{}\n\n", bold(line["operator"].get<std::string>()),
             line["shape"].get<std::string>(), line["dtype"].get<std::string>() + settings_of(line),
             target.name, target.software ? " (software GPU)" : "");
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
  if (line["launches"] == 0) fmt::print("\n  Nothing to do: no element is written.\n");
  else if (chosen.empty()) fmt::print("\n  No rung can do this.\n");
  else if (line["study"])
    fmt::print("\n  A study: all its rungs are lessons, of which the library takes the last.\n");
  if (line.contains("handed_to"))
    fmt::print("\n  The call is handed over to the kernels of {}.\n",
               line["handed_to"].get<std::string>());
  if (line["launches"] > 1)
    fmt::print("\n  {} launches; this is the first.\n", line["launches"].get<int>());
}

Expected<nlohmann::json> ask(const Target& target, const std::string& name,
                             const CaseFlags& of_case) {
  const auto catalogue = Catalogue::ask(target);
  if (!catalogue) return catalogue.error();
  const auto found = catalogue->find(name);
  if (!found) return found.error();
  const auto arguments = of_case.arguments_for(*found->op);
  if (!arguments) return arguments.error();
  if (const Status built = need_family(found->family->name, false); !built) return built.error();
  std::vector<std::string> command = {"explain", found->op->name};
  command.insert(command.end(), arguments->begin(), arguments->end());
  nlohmann::json answer;
  const Status asked =
      ask_ladders(target, command, [&](const nlohmann::json& heard) { answer = heard; });
  if (!asked) return asked.error();
  return answer;
}

int explain_main(const Arguments& arguments) {
  DeviceFlags flags;
  std::string name, json;
  CaseFlags of_case;
  CommandLine line("explain", "Says which rung the library takes for a shape, and why.");
  line.add_argument("OPERATOR", name, "a name from `ridge list`");
  of_case.add_to(line);
  line.add_device(flags);
  line.add_json(json);
  if (const auto done = line.parse(arguments)) return *done;
  if (name.empty()) {
    complain(
        "explain what? usage: ridge explain OPERATOR [--rows N …] [--shape NxM] [--dtype NAME]");
    return kUsage;
  }
  const auto target = choose_target(flags);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  const auto answer = ask(*target, name, of_case);
  Status status = answer ? Status::ok() : Status(answer.error());
  if (status && !json.empty()) status = write_record(*answer, json);
  if (status && json != "-") print_choice(*answer, *target);
  if (status) return kFine;
  complain(status.message());
  return status.code();
}

}  // namespace

extern const Verb explain_verb = {
    .position = 60,
    .name = "explain",
    .summary = "say which rung the library takes for a shape, and why",
    .main = explain_main,
};

}  // namespace ridge::tools
