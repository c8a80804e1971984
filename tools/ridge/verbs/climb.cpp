// ridge climb [operator…]: verifies every rung of a ladder, then times it beside the vendor's
// library; on the software GPU it counts instructions instead. With no operator: one ladder of
// every family.
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "climb_record.h"
#include "flags.h"
#include "harness/statistics.h"
#include "ladders.h"
#include "process.h"
#include "record.h"
#include "target.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ClimbFlags {
  std::vector<std::string> operators;
  std::string shape, dtype, rung, seed, json, csv;
  DeviceFlags device;
  bool hot = false, quick = false, quiet = false;
  bool tour() const { return operators.empty(); }
};

// --- listening ---

Step& step_of(Climb& climb, const std::string& name, bool rival) {
  for (Step& step : climb.steps)
    if (step.name == name && step.rival == rival) return step;
  climb.steps.push_back({});
  climb.steps.back().name = name;
  climb.steps.back().rival = rival;
  return climb.steps.back();
}

void begin_case(ClimbRecord& record, const json& line) {
  record.climbs.push_back({.operator_ = line["operator"],
                           .dtype = line["dtype"],
                           .shape = line["shape"],
                           .unit = line["unit"],
                           .verified_at = line["verified_at"],
                           .seed = line["seed"],
                           .read = line["read"],
                           .written = line["written"],
                           .flops = line["flops"],
                           .memory_us = {},
                           .memory_by = {},
                           .steps = {}});
}

void note_step(ClimbRecord& record, const json& line) {
  const bool rival = line.contains("rival");
  Step& step = step_of(record.climbs.back(), rival ? line["rival"] : line["rung"], rival);
  step.wrong = line.value("wrong", step.wrong);
  step.unsupported = line.value("unsupported", step.unsupported);
  step.failed = line.value("failed", step.failed);
  step.us = line.value("us", step.us);
  step.by_graph = line.value("by_graph", step.by_graph);
  step.implausible_under = line.value("implausible", step.implausible_under);
  if (line.contains("warp_instructions")) step.warp_instructions = line["warp_instructions"];
  if (line.contains("thread_instructions")) step.thread_instructions = line["thread_instructions"];
}

// --- showing ---

std::string time_text(double us) {
  if (us < 10) return fmt::format("{:.2f} µs", us);
  if (us < 1000) return fmt::format("{:.1f} µs", us);
  return fmt::format("{:.2f} ms", us / 1e3);
}

double rate(const Climb& climb, double us) {  // in climb.unit
  if (climb.unit == "TFLOP/s") return climb.flops / us / 1e6;
  if (climb.unit == "GOP/s" || climb.unit == "GFLOP/s") return climb.flops / us / 1e3;
  return (climb.read + climb.written) / us / 1e3;
}

// The one that leaves our fastest rung the least.
const Step* best_rival(const Climb& climb) {
  const Step* fastest = nullptr;
  for (const Step& step : climb.steps)
    if (!step.rival && !step.us.empty() && (!fastest || median(step.us) < median(fastest->us)))
      fastest = &step;
  const Step* best = nullptr;
  for (const Step& step : climb.steps)
    if (fastest && step.rival && !step.us.empty() &&
        (!best || times_faster(climb, *fastest, step) < times_faster(climb, *fastest, *best)))
      best = &step;
  return best;
}

std::string verdict(const Step& step) {
  const std::string_view result = result_of(step);
  if (result == "right") return green(result);
  return result == "not here" ? dim(result) : red(result);
}

void print_title(const Climb& climb) {
  fmt::print("{} {} {}", bold(climb.operator_), climb.shape, climb.dtype);
  if (climb.verified_at != climb.shape) fmt::print("  {}", dim("verified at " + climb.verified_at));
  fmt::print("\n");
}

void print_timed(const Climb& climb, const Roofs& roofs) {
  const Step* rival = best_rival(climb);
  const double roof = roofs.for_climb(climb);
  const bool by_bytes = climb.unit == "GB/s";
  std::vector<std::vector<std::string>> rows = {
      {"rung", "result", "time", "±", climb.unit, "of roof", "× before",
       rival ? "× " + rival->name : "× library", "the idea"}};
  double before = 0;
  for (const Step& step : climb.steps) {
    if (step.us.empty()) {
      rows.push_back({step.name, verdict(step), "", "", "", "", "", "", step.idea});
      continue;
    }
    const harness::Summary s = harness::summarize(step.us);
    rows.push_back(
        {step.rival ? dim(step.name) : step.name, step.rival ? "" : verdict(step),
         time_text(s.median) + (step.by_graph ? "*" : ""), fmt::format("{:.1f} %", 50 * s.spread()),
         fmt::format("{:.{}f}", rate(climb, s.median), rate(climb, s.median) < 100 ? 1 : 0),
         by_bytes && roof > 0 ? fmt::format("{:.0f} %", 100 * rate(climb, s.median) * 1e9 / roof)
                              : "",
         before > 0 && !step.rival ? fmt::format("{:.2f}", before / s.median) : "",
         rival && !step.rival ? fmt::format("{:.2f}", times_faster(climb, step, *rival)) : "",
         step.rival ? "" : step.idea});
    if (!step.rival) before = s.median;
  }
  fmt::print("{}", table(rows,
                         {Align::left, Align::left, Align::right, Align::right, Align::right,
                          Align::right, Align::right, Align::right, Align::left},
                         "  "));
  for (const Step& step : climb.steps)
    if (step.by_graph) {
      fmt::print("  {}\n",
                 dim("* too short for events: replays of a graph of 32 launches, divided"));
      break;
    }
}

void print_counted(const Climb& climb) {
  std::vector<std::vector<std::string>> rows = {
      {"rung", "result", "warp instructions", "× before", "bytes an instruction", "the idea"}};
  double before = 0;
  for (const Step& step : climb.steps) {
    const double count = step.warp_instructions ? double(*step.warp_instructions) : 0;
    rows.push_back(
        {step.name, verdict(step), step.warp_instructions ? thousands(*step.warp_instructions) : "",
         before > 0 && count > 0 ? fmt::format("{:.2f}", before / count) : "",
         count > 0 ? fmt::format("{:.1f}", (climb.read + climb.written) / count) : "", step.idea});
    if (count > 0) before = count;
  }
  fmt::print(
      "{}",
      table(rows, {Align::left, Align::left, Align::right, Align::right, Align::right, Align::left},
            "  "));
}

void print_climb(const Climb& climb, const Target& target, const Roofs& roofs) {
  print_title(climb);
  if (target.software) print_counted(climb);
  else print_timed(climb, roofs);
  for (const Step& step : climb.steps) {
    if (!step.wrong.empty()) fmt::print("  {} {}: {}\n", red("wrong:"), step.name, step.wrong);
    if (!step.failed.empty()) fmt::print("  {} {}: {}\n", red("failed:"), step.name, step.failed);
    if (!step.unsupported.empty())
      fmt::print("  {}\n", dim(step.name + " is not for this: " + step.unsupported));
    if (step.implausible_under > 0)
      fmt::print("  {} {} is faster than memory can be ({:.1f} µs): the measurement is wrong\n",
                 red("implausible:"), step.name, step.implausible_under);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

// --- the verb ---

std::vector<std::string> command_of(const ClimbFlags& flags,
                                    const std::vector<LadderEntry>& ladders, const Target& target) {
  std::vector<std::string> command = {"climb"};
  if (flags.tour()) {
    for (const LadderEntry& ladder : ladders) command.push_back(ladder.operators.front());
    command.push_back("--tour");
    command.push_back("--fast");
  }
  command.insert(command.end(), flags.operators.begin(), flags.operators.end());
  const auto pass = [&](const char* name, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {name, value});
  };
  pass("--shape", flags.shape);
  pass("--dtype", flags.dtype);
  pass("--rung", flags.rung);
  pass("--seed", flags.seed);
  if (flags.hot) command.push_back("--hot");
  if (flags.quick) command.push_back("--fast");
  const fs::path rivals = fs::path(ladders_program()).parent_path() / "libridge_rivals.so";
  if (!target.software && fs::exists(rivals)) pass("--rivals", rivals.string());
  return command;
}

// PyTorch, where this machine has one that sees the GPU, in a process with ours (bench/rivals).
void ask_torch(ClimbRecord& record, Progress& progress) {
  const fs::path library = fs::path(ladders_program()).parent_path() / "libridge_bench.so";
  if (!fs::exists(library)) return;
  progress.show("PyTorch …");
  const fs::path cases = fs::temp_directory_path() / fmt::format("ridge-cases-{}.jsonl", getpid());
  std::ofstream file(cases);
  for (const Climb& climb : record.climbs)
    file << json{{"operator", climb.operator_}, {"dtype", climb.dtype}, {"shape", climb.shape}}
                .dump()
         << "\n";
  file.close();
  size_t answered = 0;
  Command command = {.program = "python3",
                     .arguments = {library.parent_path() / "torch_rivals.py", "--library", library,
                                   "--cases", cases}};
  command.line = [&](const std::string& text) {
    const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object() || answered >= record.climbs.size()) return;
    Climb& climb = record.climbs[answered++];
    progress.show(fmt::format("[{}/{}] PyTorch {} {}", answered, record.climbs.size(),
                              climb.operator_, climb.shape));
    for (const char* rival : {"torch", "torch.compile"}) {
      const std::string key = fmt::format("{}_us", rival);
      if (!line.contains(key)) continue;
      Step& step = step_of(climb, rival, true);
      step.us = line[key].get<std::vector<double>>();
      step.beside = line["rung"];
      step.beside_us = line["ridge_us"].get<std::vector<double>>();
      step.by_graph = line["by_graph"];
    }
  };
  (void)run(command);  // no Python, no PyTorch, no GPU for it: a rival less
  std::error_code error;
  fs::remove(cases, error);
  progress.clear();
}

Status keep(const ClimbRecord& record, const ClimbFlags& flags) {
  // Where two of them can be found and compared later.
  const std::time_t now = std::time(nullptr);
  const fs::path folder = "results";
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string name = fmt::format("climb-{:%Y%m%d-%H%M%S}", fmt::localtime(now));
  fs::path file = folder / (name + ".json");
  for (int n = 2; fs::exists(file, error); ++n) file = folder / fmt::format("{}-{}.json", name, n);
  if (const Status written = write_record(to_json(record), file); !written)
    complain("not kept: " + written.message());  // here, at least, it is told
  else if (!flags.quiet)
    complain(
        fmt::format("kept in {}; `ridge compare` sets two of them side by side", file.string()));
  if (!flags.json.empty())
    if (const Status written = write_record(to_json(record), flags.json); !written) return written;
  if (flags.csv == "-") {
    fmt::print("{}", to_csv(record));
  } else if (!flags.csv.empty()) {
    std::ofstream out(flags.csv);
    out << to_csv(record);
    out.close();
    if (!out) return Error{kMissing, fmt::format("cannot write {}", flags.csv)};
  }
  return Status::ok();
}

int exit_code_of(const ClimbRecord& record) {
  int code = kFine;
  for (const Climb& climb : record.climbs)
    for (const Step& step : climb.steps) {
      if (!step.wrong.empty()) return kWrongResult;
      if (!step.failed.empty()) code = kCudaError;
      if (step.implausible_under > 0) code = kImplausible;
    }
  return code;
}

int climb_on(const Target& target, ClimbFlags flags) {
  const auto ladders = list_ladders(target);
  Status status = ladders ? check_operators(*ladders, flags.operators) : Status(ladders.error());
  for (const std::string& name : flags.operators)
    if (status && !flags.rung.empty()) {
      const auto rung = rung_name(*ladders, name, flags.rung);
      if (rung) flags.rung = *rung;
      else status = rung.error();
    }
  if (status && !flags.seed.empty())
    if (const auto seed = whole_number(flags.seed, "--seed"); !seed) status = seed.error();
  if (status && flags.json == "-" && flags.csv == "-")
    status = Error{kUsage, "--json and --csv cannot both go to stdout"};
  if (status) status = check_writable(flags.json);
  if (status) status = check_writable(flags.csv);
  if (!status) {
    complain(status.message());
    return status.code();
  }
  const bool tables = flags.json != "-" && flags.csv != "-";
  const bool with_torch =
      !target.software && !flags.tour() && !flags.hot && !flags.quick && flags.rung.empty();
  ClimbRecord record = {.environment = record_of(target), .roofs = {}, .climbs = {}};
  record.environment["date"] = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr)));
  record.environment["cache"] = flags.hot ? "hot" : "cold";

  const size_t ladder_count = flags.tour() ? ladders->size() : flags.operators.size();
  size_t started = 0;
  std::string last;
  Progress progress(flags.quiet);
  progress.keep(fmt::format("on {}{}", target.name, target.software ? " (software GPU)" : ""));
  const auto finish_last = [&] {
    if (record.climbs.empty()) return;
    progress.clear();
    if (tables && !with_torch) print_climb(record.climbs.back(), target, record.roofs);
  };
  const auto idea_of = [&](const std::string& name, const std::string& rung) {
    for (const auto& [known, idea] : find_ladder(*ladders, name)->rungs)
      if (known == rung) return idea;
    return std::string();
  };
  size_t heard = 0;
  double share = 0;
  status = ask_ladders(target, command_of(flags, *ladders, target), [&](const json& line) {
    const std::string event = line["event"];
    if (event == "roofs") {
      record.roofs = {line["copy"], line["read"], line["write"], line["pins"], line["weather"]};
    } else if (event == "case") {
      finish_last();
      if (const std::string name = line["operator"]; name != last) ++started, last = name;
      begin_case(record, line);
    } else if (event == "roof") {
      record.climbs.back().memory_us = line["us"].get<std::vector<double>>();
      record.climbs.back().memory_by = line["by"].get<std::string>();
    } else {
      note_step(record, line);
      if (line.contains("rung"))
        for (Step& step : record.climbs.back().steps)
          if (!step.rival) step.idea = idea_of(record.climbs.back().operator_, step.name);
    }
    if (record.climbs.empty()) return;
    const Climb& climb = record.climbs.back();
    // A rung is heard of twice: when it is verified, and when it is timed or counted.
    heard = event == "case" ? 0 : heard + line.contains("rung");
    const double of_ladder =
        double(heard) / double(2 * find_ladder(*ladders, climb.operator_)->rungs.size());
    share =
        std::max(share, (double(started) - 1 + std::min(of_ladder, 1.0)) / double(ladder_count));
    progress.show(fmt::format("{} {}/{}  {} {} {} {}", bar(share), started, ladder_count,
                              climb.operator_, climb.shape, event == "case" ? "verifying" : event,
                              line.value("rung", "")));
  });
  finish_last();
  progress.clear();
  if (with_torch && status) {
    ask_torch(record, progress);
    if (tables)
      for (const Climb& climb : record.climbs) print_climb(climb, target, record.roofs);
  }
  const int wrong = exit_code_of(record);
  if (!record.climbs.empty())
    if (const Status kept = keep(record, flags); !kept) {
      complain(kept.message());
      return kept.code();
    }
  if (!status) {
    complain(status.message());
    return wrong == kWrongResult ? wrong : status.code();
  }
  return wrong;
}

int climb_main(const Arguments& arguments) {
  ClimbFlags flags;
  CommandLine line("climb",
                   "Climbs ladders of kernels: verifies each rung, then times or counts it.");
  line.add_arguments("OPERATOR", flags.operators,
                     "as `ridge list` shows them; none: a tour of all families");
  line.add_option("--shape", flags.shape, "NxM", "the sizes, as in 8192x50257");
  line.add_option("--dtype", flags.dtype, "NAME", "f32, f16, bf16, …");
  line.add_option("--rung", flags.rung, "NAME", "this one only");
  line.add_option("--seed", flags.seed, "N", "of the inputs");
  line.add_flag("--hot", flags.hot, "leave the inputs in the L2 between launches");
  line.add_flag("--quick", flags.quick, "fewer samples, and no PyTorch beside ours");
  line.add_device(flags.device);
  line.add_threads(flags.device);
  line.add_json(flags.json);
  line.add_option("--csv", flags.csv, "FILE",
                  "one line a rung; - is stdout, in place of the table");
  line.add_quiet(flags.quiet);
  line.add_footer("Records are kept in results/, for `ridge compare`.");
  if (const auto done = line.parse(arguments)) return *done;
  if (flags.tour() && (!flags.shape.empty() || !flags.dtype.empty() || !flags.rung.empty())) {
    complain("--shape, --dtype and --rung belong to an operator: ridge climb OPERATOR …");
    return kUsage;
  }
  const auto target = choose_target(flags.device);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  return climb_on(*target, flags);
}

}  // namespace

extern const Verb climb_verb = {
    .position = 40,
    .name = "climb",
    .summary = "climb a ladder of kernels, or a tour of all families",
    .main = climb_main,
};

}  // namespace ridge::tools
