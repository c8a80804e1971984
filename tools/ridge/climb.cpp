// ridge climb: the tour. Runs every example on the device at hand and shows what came of it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "count.h"
#include "flags.h"
#include "process.h"
#include "record.h"
#include "target.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kOutputLines = 20;  // of a failed example
constexpr double kGrace = 3;  // seconds the software GPU gets to report before an example is ended

struct Stop {
  std::string name;  // "02_vector_add"
  std::string idea;
  fs::path program;

  Outcome outcome = {};
  std::optional<uint64_t> warp_instructions = {};
};

// The first line of an example is `// NAME: the idea.`
std::string idea_of(const fs::path& source) {
  std::ifstream file(source);
  std::string line;
  std::getline(file, line);
  const size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : line.substr(colon + 2);
}

std::vector<Stop> find_stops(const fs::path& programs) {
  std::vector<Stop> stops;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(RIDGE_EXAMPLES, error))
    if (entry.path().extension() == ".cu") {
      const std::string name = entry.path().stem();
      stops.push_back({.name = name, .idea = idea_of(entry.path()), .program = programs / name});
    }
  std::sort(stops.begin(), stops.end(),
            [](const Stop& a, const Stop& b) { return a.name < b.name; });
  return stops;
}

void visit(Stop& stop, const Target& target, const fs::path& folder, double timeout,
           const std::function<void(double)>& tick) {
  const CountFile count(target.software);
  Command command = {.program = stop.program,
                     .environment = environment_of(target),
                     .folder = folder,
                     .capture = true};
  if (target.software) command.environment.emplace_back("RIDGE_COUNT", count.path());
  if (timeout > 0) {
    command.environment.emplace_back("RIDGE_TIMEOUT", fmt::format("{}", timeout));
    command.kill_after = timeout + kGrace;
  }
  command.tick = tick;
  stop.outcome = run(command);
  stop.warp_instructions = count.warp_instructions();
  std::ofstream(folder / (stop.name + ".txt")) << stop.outcome.output;
}

std::string result_of(const Outcome& outcome) {
  if (outcome.ok()) return "ok";
  if (outcome.start_error != 0) return "not built";
  if (outcome.killed) return "timeout";
  if (outcome.signal != 0) return fmt::format("signal {}", outcome.signal);
  return outcome.exit_code == kWrongResult ? "wrong" : fmt::format("exit {}", outcome.exit_code);
}

std::string last_lines(const std::string& text) {
  size_t begin = text.size();
  for (int lines = 0; begin > 0; --begin)
    if (text[begin - 1] == '\n' && begin != text.size() && ++lines == kOutputLines) break;
  return text.substr(begin);
}

void print_summary(const std::vector<Stop>& stops, const Target& target) {
  std::vector<std::string> header = {"example", "result", "time"};
  std::vector<Align> columns = {Align::left, Align::left, Align::right};
  if (target.software) {
    header.push_back("warp instructions");
    columns.push_back(Align::right);
  }
  header.push_back("the idea");
  columns.push_back(Align::left);

  std::vector<std::vector<std::string>> rows = {header};
  for (const Stop& stop : stops) {
    const std::string result = result_of(stop.outcome);
    std::vector<std::string> row = {stop.name, stop.outcome.ok() ? green(result) : red(result),
                                    fmt::format("{:.2f} s", stop.outcome.seconds)};
    if (target.software)
      row.push_back(stop.warp_instructions ? thousands(*stop.warp_instructions) : "");
    row.push_back(stop.idea);
    rows.push_back(row);
  }
  fmt::print("{}", table(rows, columns));
}

void print_files(const fs::path& folder) {
  std::set<fs::path> pictures;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto ending = entry.path().extension(); ending == ".png" || ending == ".gif")
      pictures.insert(fs::proximate(entry.path()));
  fmt::print("\n");
  if (!pictures.empty()) {
    fmt::print("pictures:");
    for (const fs::path& picture : pictures) fmt::print(" {}", picture.string());
    fmt::print("\n");
  }
  fmt::print("what they printed: {}\n", fs::proximate(folder / "*.txt").string());
}

nlohmann::json climb_record(const std::vector<Stop>& stops, const Target& target) {
  nlohmann::json record = record_of(target);
  record["examples"] = nlohmann::json::array();
  for (const Stop& stop : stops) {
    nlohmann::json row = {{"name", stop.name},
                          {"result", result_of(stop.outcome)},
                          {"seconds", stop.outcome.seconds}};
    if (stop.warp_instructions) row["warp_instructions"] = *stop.warp_instructions;
    record["examples"].push_back(row);
  }
  return record;
}

}  // namespace

int climb_verb(const Arguments& arguments) {
  DeviceFlags flags;
  std::string json;
  double timeout = 0;
  bool quiet = false;
  CommandLine line("climb", "Runs every example on the device at hand.");
  line.add_footer("Pictures and the examples' output are left in build/<preset>/climb.");
  line.add_device(flags);
  line.add_threads(flags);
  line.add_timeout(timeout);
  line.add_json(json);
  line.add_quiet(quiet);
  if (const auto done = line.parse(arguments)) return *done;
  const auto target = choose_target(flags);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  std::vector<Stop> stops = find_stops(RIDGE_PROGRAMS);
  const fs::path folder = fs::weakly_canonical(own_folder() / ".." / "climb");
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (stops.empty() || error) {
    complain(stops.empty() ? "there are no examples here" : "cannot write to " + folder.string());
    return kMissing;
  }

  Progress progress(quiet);
  progress.keep(fmt::format("on {}{}", target->name, target->software ? " (software GPU)" : ""));
  for (size_t i = 0; i < stops.size(); ++i) {
    Stop& stop = stops[i];
    const std::string label = fmt::format("[{}/{}] {}", i + 1, stops.size(), stop.name);
    progress.show(label);
    visit(stop, *target, folder, timeout,
          [&](double seconds) { progress.show(fmt::format("{}  {:.0f} s", label, seconds)); });
    progress.keep(
        fmt::format("{}  {}  {:.2f} s", label, result_of(stop.outcome), stop.outcome.seconds));
    if (!stop.outcome.ok()) fmt::print(stderr, "{}", last_lines(stop.outcome.output));
  }
  progress.keep("");

  if (!json.empty())
    if (const Status written = write_record(climb_record(stops, *target), json); !written) {
      complain(written.message());
      return written.code();
    }
  if (json != "-") {
    print_summary(stops, *target);
    print_files(folder);
  }
  const bool all_ok =
      std::all_of(stops.begin(), stops.end(), [](const Stop& stop) { return stop.outcome.ok(); });
  const bool built = std::all_of(stops.begin(), stops.end(),
                                 [](const Stop& stop) { return stop.outcome.start_error == 0; });
  if (!built) complain("some examples are not built: ./ridge climb builds them first");
  return all_ok ? kFine : built ? kWrongResult : kMissing;
}

}  // namespace ridge::tools
