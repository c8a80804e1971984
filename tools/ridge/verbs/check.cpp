// ridge check FILE.cu | PROGRAM | OPERATOR/RUNG: runs it on the software GPU, which watches every
// access for hazards, and tells what it found, where, and how to mend it.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "findings/report.h"
#include "findings/text.h"
#include "flags.h"
#include "ladders.h"
#include "process.h"
#include "program.h"
#include "record.h"
#include "rung.h"
#include "scratch.h"
#include "target.h"
#include "terminal.h"
#include "verb.h"
#include "watch.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

struct CheckFlags {
  ProgramRequest program;
  DeviceFlags device;
  ReportFlags report;
  std::string schedules = "0", seed = "0", json;
  uint64_t schedule_count = 0, first_seed = 0;
};

struct RunResult {
  int code = 0;
  std::string output;  // its stdout
  Findings findings;
};

// Every case of the rung's tests: hazards hide at the edges of tiles.
Expected<Command> command_of(const CheckFlags& flags, const Target& target) {
  if (!names_rung(flags.program.file)) {
    if (const Status ready = check_request(flags.program); !ready) return ready.error();
    return command_for(flags.program, target);
  }
  const auto found = find_rung(target, flags.program.file, flags.program.quiet);
  if (!found) return found.error();
  ladders::Request request;
  request.command = ladders::Command::verify;
  request.operators = {found->family};
  request.rung = found->rung;
  return ladders_command(target, request);
}

void set(Environment& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const auto& entry) { return entry.first == name; });
  environment.emplace_back(name, value);
}

// A seeded order is the same again only with one worker.
RunResult run_checked(Command command, const CheckFlags& flags, uint64_t seed, bool shows) {
  const ScratchFolder scratch;
  if (!scratch.ready()) {
    complain(fmt::format("no temporary folder: {}", std::strerror(errno)));
    return {.code = kMissing, .output = {}, .findings = {}};
  }
  const fs::path wire = scratch / "findings.json";
  set(command.environment, "RIDGE_CHECK", wire);
  if (seed) {
    set(command.environment, "RIDGE_SCHEDULE", std::to_string(seed));
    set(command.environment, "RIDGE_THREADS", "1");
  }
  RunResult result;
  command.line = [&](const std::string& line) {
    result.output += line + "\n";
    if (shows) fmt::print(flags.json == "-" ? stderr : stdout, "{}\n", line);
  };
  std::fflush(stdout);
  const Outcome outcome = run(command);
  result.code = report_end(outcome, flags.program);
  result.findings = findings_of_run(wire, flags.report, outcome.signal != 0);
  return result;
}

std::string first_difference(const std::string& a, const std::string& b) {
  size_t line = 1, from = 0;
  for (size_t k = 0; k < std::min(a.size(), b.size()) && a[k] == b[k]; ++k)
    if (a[k] == '\n') ++line, from = k + 1;
  const auto cut = [&](const std::string& text) {
    std::string piece = from < text.size() ? text.substr(from, text.find('\n', from) - from) : "";
    if (piece.size() > 60) piece = piece.substr(0, 60) + "…";
    return piece;
  };
  return fmt::format("line {} of its output is '{}', usually '{}'", line, cut(b), cut(a));
}

// What only other orders show.
void try_schedules(const Command& command, const CheckFlags& flags, const RunResult& usual,
                   Findings& findings) {
  Progress progress(flags.program.quiet);
  bool compares = true;
  for (uint64_t k = 0; k < flags.schedule_count; ++k) {
    const uint64_t seed = std::max<uint64_t>(flags.first_seed, 1) + k;
    progress.show(fmt::format("schedule {} of {}", k + 1, flags.schedule_count));
    const RunResult other = run_checked(command, flags, seed, false);
    findings.add(other.findings, seed);
    const bool differs = other.output != usual.output;
    if (other.code == usual.code && (!differs || !compares)) continue;
    // A program that prints times or addresses never repeats itself.
    if (differs && run_checked(command, flags, seed, false).output != other.output) {
      compares = false;
      progress.keep("the program's output differs from run to run: only exit codes are compared");
      if (other.code == usual.code) continue;
    }
    Finding f;
    f.kind = "schedule";
    f.message = other.code != usual.code ? fmt::format("the program ends with {}, usually with {}",
                                                       other.code, usual.code)
                                         : first_difference(usual.output, other.output);
    f.fix = fmt::format("see it again: ridge check --seed {} {}", seed, flags.program.file);
    f.seed = seed;
    Findings one;
    one.all.push_back(f);
    findings.add(one, seed);
    break;  // one seed is enough to see it by
  }
}

int check_on(const Target& target, const CheckFlags& flags) {
  const auto command = command_of(flags, target);
  if (!command) return failed(command.error());
  const uint64_t seed = flags.schedule_count ? 0 : flags.first_seed;
  const RunResult usual = run_checked(*command, flags, seed, true);
  if (usual.code == kMissing && !usual.findings.finished) return usual.code;
  Findings findings = usual.findings;
  if (flags.schedule_count) try_schedules(*command, flags, usual, findings);

  Status told = report(findings, flags.report);
  if (told && !flags.json.empty()) {
    nlohmann::json record = record_of(target);
    record["program"] = flags.program.file;
    record.update(to_json(findings));
    told = write_record(record, flags.json);
  }
  return told ? exit_code(findings, usual.code) : failed(told);
}

int check_main(const Arguments& arguments) {
  CheckFlags flags;
  CommandLine line("check",
                   "Runs a program on the software GPU and finds its hazards: races, uninitialised "
                   "reads, accesses out of bounds, divergent barriers, asynchronous copies used "
                   "too early, leaks.");
  line.add_argument("WHAT", flags.program.file,
                    "a .cu file, a .py file, a program built with nvcc -cudart shared -lineinfo, "
                    "or a rung of a ladder: transpose/03_padded");
  line.add_option("--nvcc", flags.program.nvcc, "FLAGS", "give these flags to nvcc");
  line.add_option("--python", flags.program.python, "PATH",
                  "run a .py file with this Python, or the one of the environment in this folder");
  line.add_option("--schedules", flags.schedules, "N",
                  "run again under N other orders of warps and blocks, and compare");
  line.add_option("--seed", flags.seed, "S",
                  "run under the order with this seed; with --schedules, start from it");
  flags.report.add_to(line);
  line.add_json(flags.json);
  line.add_observed_device(flags.device);
  line.add_threads(flags.device);
  line.add_timeout(flags.program.timeout);
  line.add_watch(flags.program.watch);
  line.add_quiet(flags.program.quiet);
  line.add_footer(
      "Arguments after a bare -- go to the program. The exit code is 6 after a timeout and 5 if\n"
      "something was found, otherwise it is the program's own. ridge profile --check profiles the\n"
      "program in the same run.");
  if (const auto done = line.parse(arguments, &flags.program.arguments)) return *done;

  if (flags.program.file.empty()) {
    complain("check what? usage: ridge check FILE.cu | PROGRAM | OPERATOR/RUNG [-- arguments]");
    return kUsage;
  }
  Status ready = flags.report.read();
  for (const auto& [text, flag, value] :
       {std::tuple(&flags.schedules, "--schedules", &flags.schedule_count),
        std::tuple(&flags.seed, "--seed", &flags.first_seed)})
    if (const auto read = whole_number(*text, flag); read) *value = *read;
    else ready = read.error();
  if (ready) ready = check_writable(flags.json);
  if (!ready) return failed(ready);
  const auto target = choose_observed_target(flags.device);
  if (!target) return failed(target.error());
  return run_or_watch(flags.program, [&] { return check_on(*target, flags); });
}

}  // namespace

extern const Verb check_verb = {
    .position = 30,
    .name = "check",
    .summary = "find races, uninitialised reads and other hazards of a program",
    .main = check_main,
};

}  // namespace ridge::tools
