// ridge climb [operator…]: verifies every rung of a ladder, then times it beside the vendor's
// library; on the software GPU it counts instructions instead. With no operator: one ladder of
// every family.
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "climb_record.h"
#include "climb_table.h"
#include "families.h"
#include "flags.h"
#include "harness/statistics.h"
#include "ladders.h"
#include "process.h"
#include "record.h"
#include "target.h"
#include "terminal.h"
#include "torch_beside.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ClimbFlags {
  std::vector<std::string> operators;
  CaseFlags of_case;
  std::string rung, json, csv;
  DeviceFlags device;
  bool hot = false, quick = false, quiet = false;
  bool tour() const { return operators.empty(); }
  bool tables() const { return json != "-" && csv != "-"; }
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

// What a case has beside operator, format and shape, as records keep it.
json asked_of(const json& line) {
  json asked = json::object();
  for (const char* key : kAskedKeys)
    if (line.contains(key)) asked[key] = line[key];
  return asked;
}

void begin_case(ClimbRecord& record, const json& line) {
  record.climbs.push_back({.operator_ = line["operator"],
                           .dtype = line["dtype"],
                           .shape = line["shape"],
                           .settings = line["settings"],
                           .asked = asked_of(line),
                           .unit = line["unit"],
                           .verified_at = line["verified_at"],
                           .verified_by = line["verified_by"],
                           .samples = line.value("samples", int64_t(0)),
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
  step.idea = line.value("idea", step.idea);
  step.wrong = line.value("wrong", step.wrong);
  step.unsupported = line.value("unsupported", step.unsupported);
  step.failed = line.value("failed", step.failed);
  step.us = line.value("us", step.us);
  step.by_graph = line.value("by_graph", step.by_graph);
  step.implausible_under = line.value("implausible", step.implausible_under);
  if (line.contains("warp_instructions")) step.warp_instructions = line["warp_instructions"];
  if (line.contains("thread_instructions")) step.thread_instructions = line["thread_instructions"];
}

// --- the verb ---

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
      // A library that is wrong is told of, but is no failure of ours.
      if (!step.wrong.empty() && !step.rival) return kWrongResult;
      if (!step.failed.empty() && !step.rival) code = kCudaError;
      if (step.implausible_under > 0) code = kImplausible;
    }
  return code;
}

// One operator to climb.
struct Job {
  std::string family, op;
  size_t rungs = 0;
  std::vector<std::string> arguments;  // of the case
};

Expected<std::vector<Job>> jobs_of(const Catalogue& catalogue, ClimbFlags& flags) {
  std::vector<Job> jobs;
  if (flags.tour())
    for (const FamilyEntry& family : catalogue.families())
      jobs.push_back({family.name, family.operators.front().name, family.rungs.size(), {}});
  for (const std::string& name : flags.operators) {
    const auto found = catalogue.find(name);
    if (!found) return found.error();
    auto arguments = flags.of_case.arguments_for(*found->op);
    if (!arguments) return arguments.error();
    if (!flags.rung.empty()) {
      const auto rung = catalogue.rung_name(name, flags.rung);
      if (!rung) return rung.error();
      flags.rung = *rung;
    }
    jobs.push_back({found->family->name, found->op->name, found->family->rungs.size(), *arguments});
  }
  return jobs;
}

// Climbs jobs one by one, and shows each as it is done.
class Climber {
 public:
  Climber(const Target& target, const ClimbFlags& flags, size_t jobs)
      : target_(target), flags_(flags), jobs_(jobs), progress_(flags.quiet) {
    if (!target.software && !flags.hot && !flags.quick && flags.rung.empty())
      torch_.emplace(target, flags.tour());
    record.environment = record_of(target);
    record.environment["date"] = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr)));
    record.environment["cache"] = flags.hot ? "hot" : "cold";
    progress_.keep(fmt::format("on {}{}", target.name, target.software ? " (software GPU)" : ""));
  }

  Status climb(const Job& job) {
    ++started_;
    heard_ = 0;
    const size_t before = record.climbs.size();
    const Status status =
        ask_ladders(target_, command_of(job), [&](const json& line) { hear(line, job); });
    if (record.climbs.size() > before) finish_last();
    progress_.clear();
    return status;
  }
  void show(const std::string& step) {
    progress_.show(fmt::format("{} {}/{}  {}", bar(share(0)), started_, jobs_, step));
  }

  ClimbRecord record;

 private:
  double share(double of_job) const {
    return (double(started_) - (started_ ? 1 : 0) + of_job) / double(jobs_);
  }
  std::vector<std::string> command_of(const Job& job) const {
    std::vector<std::string> command = {"climb", job.op};
    command.insert(command.end(), job.arguments.begin(), job.arguments.end());
    if (flags_.tour()) command.insert(command.end(), {"--tour", "--fast"});
    if (!flags_.rung.empty()) command.insert(command.end(), {"--rung", flags_.rung});
    if (flags_.hot) command.push_back("--hot");
    if (flags_.quick) command.push_back("--fast");
    if (record.roofs.copy > 0) command.push_back("--known-roofs");
    return command;
  }
  void finish_last() {
    Climb& climb = record.climbs.back();
    if (torch_ && torch_->missing().empty()) {
      progress_.show(fmt::format("{} {}/{}  {} {} PyTorch", bar(share(1)), started_, jobs_,
                                 climb.operator_, climb.shape));
      torch_->add_to(climb);
      if (!torch_->missing().empty())
        progress_.keep("no PyTorch beside ours: " + torch_->missing());
    }
    progress_.clear();
    if (flags_.tables()) print_climb(climb, target_, record.roofs);
  }
  void hear(const json& line, const Job& job) {
    const std::string event = line["event"];
    if (event == "roofs") {
      record.roofs = {line["copy"], line["read"], line["write"], line["pins"], line["weather"]};
      return;
    }
    if (event == "rivals") {
      const std::vector<std::string> missing = line["missing"];
      progress_.keep(fmt::format("{} without {} beside it: {}", job.op, fmt::join(missing, ", "),
                                 line["why"].get<std::string>()));
      return;
    }
    if (event == "case") {
      if (heard_ > 0) finish_last();
      begin_case(record, line);
      heard_ = 0;
    } else if (event == "roof") {
      record.climbs.back().memory_us = line["us"].get<std::vector<double>>();
      record.climbs.back().memory_by = line["by"].get<std::string>();
    } else {
      note_step(record, line);
    }
    // A rung is heard of twice: when it is verified, and when it is timed or counted.
    heard_ += line.contains("rung");
    const Climb& climb = record.climbs.back();
    const double of_job = std::min(double(heard_) / double(2 * job.rungs), 1.0);
    progress_.show(fmt::format("{} {}/{}  {} {} {} {}", bar(share(of_job)), started_, jobs_,
                               climb.operator_, climb.shape, event == "case" ? "verifying" : event,
                               line.value("rung", "")));
  }

  const Target& target_;
  const ClimbFlags& flags_;
  size_t jobs_, started_ = 0, heard_ = 0;
  std::optional<TorchBeside> torch_;
  Progress progress_;
};

// Every family in turn: the first as soon as it is built, the others as they get ready.
Status climb_tour(Climber& climber, const std::vector<Job>& jobs) {
  Status worst;
  const auto climb = [&](const Job& job, bool built) {
    const Status status =
        built ? climber.climb(job)
              : Status(Error{kDoesNotCompile,
                             fmt::format("the kernels of {} do not build", job.family)});
    if (status) return true;
    complain(status.message() + "; the tour goes on without it");
    worst = status;
    return status.code() != kInterrupted;
  };
  const Status first = need_family(jobs.front().family, false);
  if (first.code() == kInterrupted) return first;
  std::vector<std::string> rest;
  for (size_t j = 1; j < jobs.size(); ++j) rest.push_back(jobs[j].family);
  FamilyBuilder builder(rest);
  if (!climb(jobs.front(), bool(first))) return worst;
  FamilyBuilder::Built built;
  while (builder.next(built, [&](const std::string& step) { climber.show(step); }))
    for (const Job& job : jobs)
      if (job.family == built.family && !climb(job, built.ready)) return worst;
  return worst;
}

Status climb_named(Climber& climber, const std::vector<Job>& jobs, bool quiet) {
  for (const Job& job : jobs) {
    if (const Status built = need_family(job.family, quiet); !built) return built;
    if (const Status status = climber.climb(job); !status) return status;
  }
  return Status::ok();
}

Expected<std::vector<Job>> prepare(const Target& target, ClimbFlags& flags) {
  if (flags.json == "-" && flags.csv == "-")
    return Error{kUsage, "--json and --csv cannot both go to stdout"};
  for (const std::string& file : {flags.json, flags.csv})
    if (const Status fine = check_writable(file); !fine) return fine.error();
  const auto catalogue = Catalogue::ask(target);
  if (!catalogue) return catalogue.error();
  return jobs_of(*catalogue, flags);
}

int climb_on(const Target& target, ClimbFlags flags) {
  const auto jobs = prepare(target, flags);
  if (!jobs) {
    complain(jobs.error().message);
    return jobs.error().code;
  }
  Climber climber(target, flags, jobs->size());
  ClimbRecord& record = climber.record;
  const Status status =
      flags.tour() ? climb_tour(climber, *jobs) : climb_named(climber, *jobs, flags.quiet);
  const int wrong = exit_code_of(record);
  if (!record.climbs.empty())
    if (const Status kept = keep(record, flags); !kept) {
      complain(kept.message());
      return kept.code();
    }
  if (status) return wrong;
  if (!flags.tour()) complain(status.message());
  return wrong == kWrongResult ? wrong : status.code();
}

int climb_main(const Arguments& arguments) {
  ClimbFlags flags;
  CommandLine line("climb",
                   "Climbs ladders of kernels: verifies each rung, then times or counts it.");
  line.add_arguments("OPERATOR", flags.operators,
                     "names from `ridge list`; without one: a tour of all families");
  flags.of_case.add_to(line);
  line.add_option("--rung", flags.rung, "NAME", "climb this rung only");
  line.add_flag("--hot", flags.hot, "keep the inputs in the L2 cache between launches");
  line.add_flag("--quick", flags.quick, "take fewer samples, and do not time PyTorch");
  line.add_device(flags.device);
  line.add_threads(flags.device);
  line.add_json(flags.json);
  line.add_option("--csv", flags.csv, "FILE",
                  "write one line per rung; - writes to stdout, in place of the table");
  line.add_quiet(flags.quiet);
  line.add_footer(
      "An operator's sizes and parameters are flags, too: ridge climb gemv --rows 4096 --alpha 2; "
      "`ridge list OPERATOR` names them.\nRecords are kept in results/, for `ridge compare`.");
  if (const auto done = line.parse(arguments)) return *done;
  if (flags.tour()) {
    Status fine = flags.of_case.refused(line);
    if (fine && !flags.rung.empty())
      fine = Error{kUsage, "--rung belongs to an operator: ridge climb OPERATOR --rung NAME"};
    if (!fine) {
      complain(fine.message());
      return fine.code();
    }
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
