// ridge climb [operator…]: verifies every rung of a ladder, then times it beside the vendor's
// library; on the software GPU it models the time, or counts instructions. With no operator: one
// ladder of every family. With --from it runs nothing and shows records that are there.
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogue.h"
#include "climb_merge.h"
#include "climb_page.h"
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
#include "triton_beside.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

struct ClimbFlags {
  std::vector<std::string> operators;
  CaseFlags of_case;
  std::string rung, json, csv, html;
  std::vector<std::string> from;  // records to show, in place of a run
  DeviceFlags device;
  bool hot = false, variants = false, quick = false, quiet = false, instructions = false,
       with_triton = false;
  bool all = false;    // of a tour
  std::string python;  // of --with-triton
  bool tour() const { return operators.empty(); }
  bool tables() const { return json != "-" && csv != "-" && html != "-"; }
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

// Adds what a stage found to what is known.
void note_step(Climb& climb, const Step& found) {
  Step& step = step_of(climb, found.name, found.rival);
  if (!found.idea.empty()) step.idea = found.idea;
  if (!found.wrong.empty()) step.wrong = found.wrong;
  if (!found.unsupported.empty()) step.unsupported = found.unsupported;
  if (!found.failed.empty()) step.failed = found.failed;
  if (!found.us.empty()) step.us = found.us;
  step.by_graph |= found.by_graph;
  if (found.implausible_under > 0) step.implausible_under = found.implausible_under;
  if (found.warp_instructions) step.warp_instructions = found.warp_instructions;
  if (found.thread_instructions) step.thread_instructions = found.thread_instructions;
  if (found.modelled_us) {
    step.modelled_us = found.modelled_us;
    step.modelled_low_us = found.modelled_low_us;
    step.modelled_high_us = found.modelled_high_us;
    step.bound = found.bound;
    step.why = found.why;
  }
}

// --- the verb ---

Status write_page(const std::vector<MergedClimb>& climbs, const ClimbFlags& flags) {
  if (flags.html.empty()) return Status::ok();
  const Status written = write_text(to_page(climbs), flags.html);
  if (written && !flags.quiet && flags.html != "-")
    complain(fmt::format("the page is {}; any browser shows it", flags.html));
  return written;
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
  if (!flags.csv.empty())
    if (const Status written = write_text(to_csv(record), flags.csv); !written) return written;
  const auto merged = merge({record});
  return merged ? write_page(*merged, flags) : Status(merged.error());
}

int exit_code_of_climb(const ClimbRecord& record) {
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
  std::string family;
  size_t rungs = 0;
  ladders::Request request;
  const std::string& op() const { return request.operators.front(); }
};

Expected<std::vector<Job>> jobs_of(const Catalogue& catalogue, const ClimbFlags& flags) {
  std::vector<Job> jobs;
  if (flags.tour())
    for (const FamilyEntry& family : catalogue.families()) {
      if (!flags.all && !std::ranges::count(tour_families(), family.name)) continue;
      jobs.push_back({family.name, family.rungs.size(), {}});
      ladders::Request& request = jobs.back().request;
      request.operators = {family.operators.front().name};
      request.tour = request.fast = true;
    }
  for (const std::string& name : flags.operators) {
    const auto found = catalogue.find(name);
    if (!found) return found.error();
    auto request = flags.of_case.request_for(*found->op);
    if (!request) return request.error();
    if (flags.rung == ladders::kLibrary) {
      request->rung = flags.rung;
    } else if (!flags.rung.empty()) {
      const auto rung = catalogue.rung_name(name, flags.rung);
      if (!rung) return rung.error();
      request->rung = *rung;
    }
    request->fast = flags.quick;
    jobs.push_back({found->family->name, found->family->rungs.size(), *request});
  }
  for (Job& job : jobs) {
    job.request.command = ladders::Command::measure;
    job.request.hot = flags.hot;
    job.request.variants = flags.variants;
    job.request.instructions = flags.instructions;
  }
  return jobs;
}

// Climbs jobs one by one, and shows each as it is done.
class Climber {
 public:
  Climber(const Target& target, const ClimbFlags& flags, size_t jobs)
      : target_(target), flags_(flags), jobs_(jobs), progress_(flags.quiet) {
    const bool has_library = flags.rung.empty() || flags.rung == ladders::kLibrary;
    if (!target.software && !flags.hot && !flags.quick && has_library)
      torch_.emplace(target, flags.tour());
    if (flags.with_triton) triton_.emplace(target, flags.python);
    record.environment = record_of(target);
    record.environment["date"] = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr)));
    if (target.software) add_roofs_of(target.gpu, record.roofs);
    record.environment["cache"] = flags.hot ? "hot" : "cold";
    progress_.keep(fmt::format("on {}{}", target.name, target.software ? " (software GPU)" : ""));
  }

  Status climb(const Job& job) {
    ++started_;
    heard_ = 0;
    const size_t before = record.climbs.size();
    ladders::Request request = job.request;
    request.known_roofs = record.roofs.copy > 0;
    const Status status =
        ask_ladders(target_, request, [&](const ladders::Answer& answer) { hear(answer, job); });
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
  void finish_last() {
    Climb& climb = record.climbs.back();
    // Where only the library is of interest, a rival of its own language is rival enough.
    const bool is_beside_rival =
        climb.library_only &&
        std::ranges::any_of(climb.steps, [](const Step& s) { return s.rival && !s.us.empty(); });
    if (torch_ && torch_->missing().empty() && !is_beside_rival) {
      progress_.show(fmt::format("{} {}/{}  {} {} PyTorch", bar(share(1)), started_, jobs_,
                                 climb.operator_, climb.shape));
      torch_->add_to(climb);
      if (!torch_->missing().empty())
        progress_.keep("no PyTorch beside ours: " + torch_->missing());
    }
    if (triton_) {
      progress_.show(fmt::format("{} {}/{}  {} {} Triton", bar(share(1)), started_, jobs_,
                                 climb.operator_, climb.shape));
      if (const Status added = triton_->add_to(climb); !added)
        progress_.keep(
            fmt::format("{} without Triton beside it: {}", climb.operator_, added.message()));
    }
    progress_.clear();
    if (flags_.tables())
      print_climb(merged_of(climb, record),
                  {.software = target_.software, .instructions = flags_.instructions});
  }
  void hear(const ladders::Answer& answer, const Job& job) {
    if (const auto* roofs = std::get_if<ladders::RoofsAnswer>(&answer)) {
      record.roofs = *roofs;
      add_roofs_of(target_.gpu, record.roofs);
    } else if (const auto* rivals = std::get_if<ladders::RivalsAnswer>(&answer)) {
      progress_.keep(fmt::format("{} without {} beside it: {}", job.op(),
                                 fmt::join(rivals->missing, ", "), rivals->why));
    } else if (const auto* begun = std::get_if<ladders::CaseAnswer>(&answer)) {
      if (heard_ > 0) finish_last();
      record.climbs.push_back({*begun, {}, {}});
      heard_ = 0;
      show_step(job, "verifying");
    } else if (const auto* memory = std::get_if<ladders::MemoryAnswer>(&answer)) {
      record.climbs.back().memory = *memory;
    } else if (const auto* told = std::get_if<ladders::StepAnswer>(&answer)) {
      note_step(record.climbs.back(), told->step);
      heard_ += !told->step.rival;
      show_step(job, told->stage + " " + told->step.name);
    }
  }
  void show_step(const Job& job, const std::string& step) {
    // A rung is heard of twice: when it is verified, and when it is timed or counted.
    const double of_job = std::min(double(heard_) / double(2 * job.rungs), 1.0);
    const Climb& climb = record.climbs.back();
    progress_.show(fmt::format("{} {}/{}  {} {} {}", bar(share(of_job)), started_, jobs_,
                               climb.operator_, climb.shape, step));
  }

  const Target& target_;
  const ClimbFlags& flags_;
  size_t jobs_, started_ = 0, heard_ = 0;
  std::optional<TorchBeside> torch_;
  std::optional<TritonBeside> triton_;
  Progress progress_;
};

// One family after the other: the first as soon as it is built, the others as they get ready.
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

Status check_files(const ClimbFlags& flags) {
  const std::string files[] = {flags.json, flags.csv, flags.html};
  if (std::ranges::count(files, "-") > 1)
    return Error{kUsage, "--json, --csv and --html cannot both go to stdout: name a file"};
  for (const std::string& file : files)
    if (const Status fine = check_writable(file); !fine) return fine;
  return Status::ok();
}

Expected<std::vector<Job>> prepare(const Target& target, const ClimbFlags& flags) {
  const auto catalogue = Catalogue::ask(target);
  if (!catalogue) return catalogue.error();
  return jobs_of(*catalogue, flags);
}

int climb_on(const Target& target, const ClimbFlags& flags) {
  const auto jobs = prepare(target, flags);
  if (!jobs) return failed(jobs.error());
  Climber climber(target, flags, jobs->size());
  ClimbRecord& record = climber.record;
  const Status status =
      flags.tour() ? climb_tour(climber, *jobs) : climb_named(climber, *jobs, flags.quiet);
  const int wrong = exit_code_of_climb(record);
  if (!record.climbs.empty())
    if (const Status kept = keep(record, flags); !kept) return failed(kept);
  if (status) return wrong;
  if (!flags.tour()) complain(status.message());
  return wrong == kWrongResult ? wrong : status.code();
}

// --- records that are there ---

bool is_asked_for(const Climb& climb, const ClimbFlags& flags) {
  const CaseFlags& wanted = flags.of_case;
  return (flags.tour() || std::ranges::count(flags.operators, climb.operator_) > 0) &&
         (wanted.shape.empty() || wanted.shape == climb.shape) &&
         (wanted.dtype.empty() || wanted.dtype == climb.dtype);
}

Status check_flags_of_records(const ClimbFlags& flags) {
  const CaseFlags& of_case = flags.of_case;
  if (!flags.json.empty() || !flags.csv.empty())
    return Error{kUsage, "--from shows records; --json and --csv write one: leave out either"};
  if (!flags.rung.empty() || flags.hot || flags.variants || flags.quick ||
      !of_case.settings.empty() || !of_case.distribution.empty() || !of_case.with.empty() ||
      !of_case.transposed.empty() || !of_case.seed.empty())
    return Error{kUsage,
                 "--from runs nothing: of the flags for a case, only --shape and --dtype choose "
                 "among the climbs of a record"};
  return check_files(flags);
}

int show_records(const ClimbFlags& flags) {
  if (const Status fine = check_flags_of_records(flags); !fine) return failed(fine);
  const auto climbs =
      read_and_merge(flags.from, [&](const Climb& climb) { return is_asked_for(climb, flags); });
  if (!climbs) return failed(climbs.error());
  if (flags.html.empty())
    for (const MergedClimb& climb : *climbs)
      print_climb(climb, {.software = climb.is_counted(),
                          .instructions = flags.instructions,
                          .from_record = true});
  const Status written = write_page(*climbs, flags);
  return written ? int(kFine) : failed(written);
}

// --- the command line ---

int climb_main(const Arguments& arguments) {
  ClimbFlags flags;
  CommandLine line("climb",
                   "Climbs ladders of kernels: verifies each rung, then times it; on the software "
                   "GPU, models its time.");
  line.add_arguments("OPERATOR", flags.operators,
                     "names from `ridge list`; without one: a tour of well-known ladders");
  line.add_flag("--all", flags.all, "a tour of all families");
  flags.of_case.add_to(line);
  line.add_option("--rung", flags.rung, "NAME",
                  "climb this rung only; library: the one that the library takes");
  line.add_flag("--hot", flags.hot, "keep the inputs in the L2 cache between launches");
  line.add_flag("--variants", flags.variants,
                "time every variant of a rung, not only the one that it takes");
  line.add_flag("--quick", flags.quick, "take fewer samples, and do not time PyTorch");
  line.add_flag("--with-triton", flags.with_triton,
                "a kernel of examples/triton beside the rungs, where there is one");
  line.add_option("--python", flags.python, "PATH",
                  "with --with-triton: the Python that has Triton");
  line.add_device(flags.device);
  line.add_threads(flags.device);
  line.add_json(flags.json);
  line.add_option("--csv", flags.csv, "FILE",
                  "write one line per rung; - writes to stdout, in place of the table");
  line.add_option("--html", flags.html, "FILE",
                  "write a page with charts: the ladders as bars against their roofs, rooflines, "
                  "all numbers; - writes to stdout, in place of the table");
  line.add_option("--from", flags.from, "RECORD",
                  "run nothing, show this record; given twice, a modelled and a measured record of "
                  "the same cases stand side by side");
  line.add_flag(
      "--instructions", flags.instructions,
      "on the software GPU: count instructions, too, and show them beside modelled times");
  line.add_quiet(flags.quiet);
  line.add_footer(
      "An operator's sizes and parameters are flags, too: ridge climb gemv --rows 4096 --alpha 2; "
      "`ridge list OPERATOR` names them.\nRecords are kept in results/, for `ridge compare` and "
      "--from.");
  if (const auto done = line.parse(arguments)) return *done;
  if (!flags.from.empty()) return show_records(flags);
  if (flags.tour()) {
    Status fine = flags.of_case.refused(line);
    if (fine && !flags.rung.empty())
      fine = Error{kUsage, "--rung belongs to an operator: ridge climb OPERATOR --rung NAME"};
    if (!fine) return failed(fine);
  }
  if (flags.all && !flags.tour())
    return failed(Error{kUsage, "--all climbs all families: name no operator, or leave it out"});
  if (const Status fine = check_files(flags); !fine) return failed(fine);
  const auto target = choose_target(flags.device);
  if (!target) return failed(target.error());
  return climb_on(*target, flags);
}

}  // namespace

extern const Verb climb_verb = {
    .position = 40,
    .name = "climb",
    .summary = "climb a ladder of kernels, or a tour of several",
    .main = climb_main,
};

}  // namespace ridge::tools
