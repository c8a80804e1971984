// ridge profile FILE.cu | PROGRAM | OPERATOR/RUNG: runs it on the software GPU with every
// instruction counted, and shows by source line what it cost, why, and what to do about it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "findings/report.h"
#include "findings/text.h"
#include "flags.h"
#include "ladders.h"
#include "modelled.h"
#include "process.h"
#include "profile/against.h"
#include "profile/metrics.h"
#include "profile/modelled.h"
#include "profile/page.h"
#include "profile/read.h"
#include "profile/resources.h"
#include "profile/text.h"
#include "profile/time.h"
#include "profile/to_json.h"
#include "profile/triton_notes.h"
#include "program.h"
#include "record.h"
#include "rung.h"
#include "scratch.h"
#include "suggest.h"
#include "target.h"
#include "terminal.h"
#include "toolkit.h"
#include "verb.h"
#include "watch.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSample = "256";  // blocks of a rung at a shape of the user's

struct ProfileFlags {
  ProgramRequest program;
  DeviceFlags device;
  CaseFlags of_case;   // of an operator
  bool check = false;  // for hazards, in the same run
  ReportFlags report;  // on those
  std::string blocks, kernel, top = "8";
  std::string json, csv, html, against;
  nlohmann::json before;  // the record that `against` names
  size_t top_lines = 8;
  bool to_stdout() const { return json == "-" || csv == "-" || html == "-"; }
};

Expected<Command> command_of(const ProfileFlags& flags, const Target& target) {
  if (!names_rung(flags.program.file)) {
    if (const Status ready = check_request(flags.program); !ready) return ready.error();
    return command_for(flags.program, target);
  }
  const auto found = find_rung(target, flags.program.file, flags.program.quiet);
  if (!found) return found.error();
  auto request = flags.of_case.request_for(found->op);
  if (!request) return request.error();
  request->command = ladders::Command::launch;
  request->rung = found->rung;
  Command command = ladders_command(target, *request);
  if (flags.program.timeout > 0)
    command.environment.emplace_back("RIDGE_TIMEOUT", fmt::format("{}", flags.program.timeout));
  return command;
}

// The software GPU asks the toolkit for the machine code of each kernel. Returns whether there is a
// disassembler for that.
bool let_read_machine_code(Command& command) {
  const auto toolkit = find_toolkit();
  if (!toolkit) return false;
  const fs::path nvdisasm = find_nvdisasm(*toolkit), ptxas = toolkit->root / "bin" / "ptxas";
  if (nvdisasm.empty()) return false;
  command.environment.emplace_back("RIDGE_PROFILE_NVDISASM", nvdisasm);
  if (std::error_code error; fs::exists(ptxas, error))
    command.environment.emplace_back("RIDGE_PROFILE_PTXAS", ptxas);
  return true;
}

// What the ladders program says is for us; a user's program speaks to the user.
int run_and_report(Command command, const ProfileFlags& flags) {
  int refused = 0;
  if (names_rung(flags.program.file)) {
    command.line = [&](const std::string& text) {
      const auto answer = ladders::read_answer(text);
      if (!answer) return;
      if (const auto* failure = std::get_if<ladders::Failure>(&*answer)) {
        complain(failure->message);
        refused = exit_code_of(*failure);
      } else if (const auto* launch = std::get_if<ladders::LaunchAnswer>(&*answer);
                 launch && !flags.program.quiet) {
        const ladders::CaseAnswer& c = launch->of_case;
        complain(fmt::format("{} {} {}, rung {}", c.operator_, c.shape, c.dtype, launch->rung));
      }
    };
  } else if (flags.to_stdout()) {
    command.line = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  }
  const Outcome outcome = run(command);
  return refused ? refused : report_end(outcome, flags.program);
}

// `findings`: nullptr where nobody looked for hazards.
Status show(const profile::Profile& profile, const Findings* findings, const nlohmann::json& triton,
            const ProfileFlags& flags, const Target& target) {
  nlohmann::json record = record_of(target);
  record["program"] = flags.program.file;
  record.update(profile::to_json(profile, target.gpu));
  if (findings) record.update(to_json(*findings));
  if (!triton.empty()) record["triton"] = triton;
  if (!flags.against.empty()) {
    record["against"] = profile::compare(flags.before, record);
    record["against"]["file"] = flags.against;
  }
  if (!flags.to_stdout())
    fmt::print("{}", flags.against.empty()
                         ? profile::to_text(profile, target.gpu, flags.top_lines)
                         : profile::to_text(record["against"], flags.against, flags.top_lines));
  if (!flags.to_stdout()) fmt::print("{}", profile::triton_notes_text(triton));
  if (!flags.csv.empty())
    if (const Status written = write_text(profile::to_csv(profile), flags.csv); !written)
      return written;
  if (!flags.json.empty())
    if (const Status written = write_record(record, flags.json); !written) return written;
  if (flags.html.empty()) return Status::ok();
  if (const Status written = write_text(profile::to_page(record, profile), flags.html); !written)
    return written;
  if (!flags.program.quiet && flags.html != "-")
    complain(fmt::format("the page is {}; any browser shows it", flags.html));
  return Status::ok();
}

// Why there are no kernels; a signal is 128 and more in the exit code.
std::string nothing_to_show(const ProfileFlags& flags, int code) {
  const std::string name =
      flags.kernel.empty() ? "" : fmt::format(" whose name contains '{}'", flags.kernel);
  if (code > 128 || code == kTimeout)
    return fmt::format(
        "no kernel{} had ended when the program was stopped: there is nothing to show (--blocks N "
        "runs some blocks of each launch only)",
        name);
  return name.empty() ? fmt::format("no kernel was launched by {}: there is nothing to show",
                                    flags.program.file)
                      : fmt::format("no kernel{} was launched", name);
}

// Reads what was counted, and shows it; the exit code.
int show_counts(const ScratchFolder& scratch, const Findings* findings, const ProfileFlags& flags,
                const Target& target, bool nvdisasm, int code) {
  std::ifstream wire(scratch / "launches.json");
  auto profile = profile::read_profile(wire, flags.kernel);
  if (!profile) return failed(profile.error());
  if (profile->kernels.empty()) {
    complain(nothing_to_show(flags, code));
    return code ? code : int(kUsage);
  }
  profile->nvdisasm = nvdisasm;
  std::ifstream times(scratch / "times.json");
  profile::read_modelled_times(*profile, times);
  profile::read_ptx(*profile, scratch / "ptx");
  profile::ask_ptxas(*profile, target.gpu);
  profile::find_occupancy(*profile, target.gpu);
  profile::make_lines(*profile);
  for (profile::Kernel& kernel : profile->kernels) profile::rank_lines(kernel, target.gpu);
  std::ifstream notes(scratch / "triton.json");
  const nlohmann::json triton = profile::read_triton_notes(notes);
  if (const Status shown = show(*profile, findings, triton, flags, target); !shown)
    return failed(shown);
  return code;
}

int profile_on(const Target& target, const ProfileFlags& flags) {
  auto command = command_of(flags, target);
  if (!command) return failed(command.error());
  const ScratchFolder scratch;
  if (!scratch.ready()) {
    complain(fmt::format("no temporary folder: {}", std::strerror(errno)));
    return kMissing;
  }
  std::error_code error;
  fs::create_directory(scratch / "ptx", error);  // without it there are no PTX lines
  command->environment.emplace_back("RIDGE_PROFILE", scratch / "launches.json");
  command->environment.emplace_back("RIDGE_PROFILE_PTX", scratch / "ptx");
  command->environment.emplace_back("RIDGE_MODEL", scratch / "times.json");
  command->environment.emplace_back("RIDGE_TRITON_NOTES", scratch / "triton.json");
  ask_for_registers(command->environment);
  if (flags.check) command->environment.emplace_back("RIDGE_CHECK", scratch / "findings.json");
  // A rung at a real size would take too long, and its blocks are much alike. A check needs all of
  // them, because other blocks read what a block writes.
  const bool is_large = names_rung(flags.program.file) && flags.of_case.has_size();
  const std::string blocks =
      flags.blocks.empty() && is_large && !flags.check ? kSample : flags.blocks;
  if (!blocks.empty() && blocks != "all") {
    command->environment.emplace_back("RIDGE_PROFILE_BLOCKS", blocks);
    command->environment.emplace_back("RIDGE_MODEL_SAMPLED", "1");
  }
  if (!flags.of_case.seed.empty())
    command->environment.emplace_back("RIDGE_PROFILE_SEED", flags.of_case.seed);
  const bool nvdisasm = let_read_machine_code(*command);
  std::fflush(stdout);
  int code = run_and_report(*command, flags);
  if (!flags.check) return show_counts(scratch, nullptr, flags, target, nvdisasm, code);
  const bool died = code > 128;  // of a signal
  Findings findings = findings_of_run(scratch / "findings.json", flags.report, died);
  if (const Status told = report(findings, flags.report); !told) return failed(told);
  code = exit_code(findings, code);
  return show_counts(scratch, &findings, flags, target, nvdisasm, code);
}

int profile_main(const Arguments& arguments) {
  ProfileFlags flags;
  CommandLine line("profile",
                   "Runs a program on the software GPU and shows what each source line costs, why, "
                   "and what to do about it.");
  line.add_argument("WHAT", flags.program.file,
                    "a .cu file, a program built with nvcc -cudart shared, or a rung of a ladder: "
                    "transpose/03_padded");
  line.add_option("--nvcc", flags.program.nvcc, "FLAGS", "give these flags to nvcc");
  line.add_option("--python", flags.program.python, "PATH",
                  "run a .py file with this Python, or the one of the environment in this folder");
  flags.of_case.add_to(line);
  line.add_option("--kernel", flags.kernel, "NAME", "show only kernels whose name contains NAME");
  line.add_option("--top", flags.top, "N", "show N source lines per kernel (default: 8)");
  line.add_option(
      "--blocks", flags.blocks, "N",
      "run about N blocks of each launch, chosen by --seed, and scale the counts; all: run every "
      "block. Without it, a rung with --shape runs 256 blocks, anything else runs all");
  line.add_flag("--check", flags.check,
                "look for hazards in the same run, as ridge check does, and report them first");
  flags.report.add_to(line);
  line.add_json(flags.json);
  line.add_option("--csv", flags.csv, "FILE",
                  "write one row per kernel, by Nsight Compute's names; - writes to stdout, in "
                  "place of the table");
  line.add_option("--html", flags.html, "FILE",
                  "write a page: the source beside its counters, pictures of accesses, a roofline");
  line.add_option("--against", flags.against, "BEFORE.json",
                  "compare with an earlier profile, kernel by kernel and line by line; --json "
                  "writes such a record");
  line.add_observed_device(flags.device);
  line.add_threads(flags.device);
  line.add_timeout(flags.program.timeout);
  line.add_watch(flags.program.watch);
  line.add_quiet(flags.program.quiet);
  line.add_footer(
      "Arguments after a bare -- go to the program. --shape, --dtype, --distribution and the sizes "
      "and parameters of an operator (--rows 4096) are for a rung. --seed makes the inputs of a "
      "rung "
      "and chooses the blocks of --blocks. Source lines need -lineinfo, with which ridge compiles "
      "every .cu file.\n"
      "Instructions are counted as PTX; sectors, wavefronts and conflicts are those of the "
      "hardware.\n"
      "With --check the exit code is 6 after a timeout and 5 if something was found, otherwise it "
      "is the program's own. --max-reports, --no-leaks, --sarif and --suppress shape the report "
      "on what was found.");
  if (const auto done = line.parse(arguments, &flags.program.arguments)) return *done;

  if (flags.program.file.empty()) {
    complain("profile what? usage: ridge profile FILE.cu | PROGRAM | OPERATOR/RUNG [-- arguments]");
    return kUsage;
  }
  Status ready;
  if (!names_rung(flags.program.file)) ready = flags.of_case.refused(line);
  const auto top = whole_number(flags.top, "--top", 1);
  if (!top) ready = ready ? Status(top.error()) : ready;
  else flags.top_lines = *top;
  if (ready && !flags.blocks.empty() && flags.blocks != "all")
    if (const auto blocks = whole_number(flags.blocks, "--blocks", 1); !blocks)
      ready = blocks.error();
  if (ready && flags.check && !flags.blocks.empty() && flags.blocks != "all")
    ready = Error{kUsage,
                  "--check needs every block, because others read what a block leaves out: leave "
                  "out --blocks or --check"};
  if (ready && !flags.check && flags.report.any_given())
    ready = Error{
        kUsage, "--max-reports, --no-leaks, --sarif and --suppress are about hazards: add --check"};
  if (ready) ready = flags.report.read();
  for (const std::string* file : {&flags.json, &flags.csv, &flags.html})
    if (ready) ready = check_writable(*file);
  if (ready && !flags.against.empty()) {
    auto before = profile::read_record(flags.against);
    if (before) flags.before = std::move(*before);
    else ready = before.error();
  }
  if (!ready) return failed(ready);
  const auto target = choose_observed_target(flags.device);
  if (!target) return failed(target.error());
  return run_or_watch(flags.program, [&] { return profile_on(*target, flags); });
}

}  // namespace

extern const Verb profile_verb = {
    .position = 20,
    .name = "profile",
    .summary = "show what each source line costs, why, and the fix",
    .main = profile_main,
};

}  // namespace ridge::tools
