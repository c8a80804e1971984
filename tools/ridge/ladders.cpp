#include "ladders.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layout.h"
#include "process.h"
#include "suggest.h"
#include "verb.h"

namespace ridge::tools {

std::string ladders_program() { return layout().programs / "ridge_ladders"; }

Status ask_ladders(const Target& target, const std::vector<std::string>& arguments,
                   const std::function<void(const nlohmann::json&)>& heard, bool quiet) {
  Status said;
  Command command = {
      .program = ladders_program(), .arguments = arguments, .environment = environment_of(target)};
  if (!quiet && target.software) command.environment.emplace_back("RIDGE_PROGRESS", "1");
  command.line = [&](const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return;
    if (json.contains("error"))
      said = Error{json["code"].get<int>() == 2 ? int(kUsage) : int(kCudaError),
                   json["error"].get<std::string>()};
    else heard(json);
  };
  const Outcome outcome = run(command);
  if (!said) return said;
  if (outcome.start_error != 0)
    return Error{kMissing, fmt::format("{} does not start ({}); ./ridge build makes it",
                                       command.program, std::strerror(outcome.start_error))};
  if (outcome.signal == SIGINT) return Error{kInterrupted, "interrupted"};
  if (outcome.signal != 0)
    return Error{kCudaError, fmt::format("the ladders died of signal {} ({})", outcome.signal,
                                         strsignal(outcome.signal))};
  if (outcome.exit_code != 0)
    return Error{outcome.exit_code, fmt::format("the ladders ended with {}", outcome.exit_code)};
  return Status::ok();
}

Expected<std::vector<LadderEntry>> list_ladders(const Target& target) {
  std::vector<LadderEntry> ladders;
  const Status asked = ask_ladders(target, {"list"}, [&](const nlohmann::json& line) {
    LadderEntry entry = {.family = line["family"],
                         .summary = line["summary"],
                         .shape = line["shape"],
                         .operators = line["operators"],
                         .dtypes = line["dtypes"],
                         .rungs = {}};
    for (const auto& rung : line["rungs"]) entry.rungs.emplace_back(rung["name"], rung["idea"]);
    ladders.push_back(std::move(entry));
  });
  if (!asked) return asked.error();
  return ladders;
}

Status check_operators(const std::vector<LadderEntry>& ladders,
                       const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const LadderEntry& ladder : ladders) {
    names.push_back(ladder.family);
    names.insert(names.end(), ladder.operators.begin(), ladder.operators.end());
  }
  for (const std::string& word : words)
    if (std::find(names.begin(), names.end(), word) == names.end())
      return Error{kUsage, fmt::format("there is no operator '{}'{} `ridge list` shows them.", word,
                                       did_you_mean(word, names))};
  return Status::ok();
}

const LadderEntry* find_ladder(const std::vector<LadderEntry>& ladders, const std::string& name) {
  for (const LadderEntry& ladder : ladders)
    if (ladder.family == name ||
        std::ranges::find(ladder.operators, name) != ladder.operators.end())
      return &ladder;
  return nullptr;
}

Expected<std::string> rung_name(const std::vector<LadderEntry>& ladders, const std::string& name,
                                const std::string& wanted) {
  if (const Status known = check_operators(ladders, {name}); !known) return known.error();
  const size_t digits = wanted.find_first_not_of("0123456789");
  const bool is_numbered = digits != wanted.npos && digits > 0 && wanted[digits] == '_';
  std::vector<std::string> rungs;
  for (const auto& [rung, idea] : find_ladder(ladders, name)->rungs) {
    if (rung == wanted || (is_numbered && rung == wanted.substr(digits + 1))) return rung;
    rungs.push_back(rung);
  }
  return Error{kUsage, fmt::format("{} has no rung '{}'{} Its rungs are {}.", name, wanted,
                                   did_you_mean(wanted, rungs), fmt::join(rungs, ", "))};
}

}  // namespace ridge::tools
