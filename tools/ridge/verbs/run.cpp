// ridge run FILE.cu | PROGRAM [-- arguments]: on the GPU if there is one, else on the software GPU.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "count.h"
#include "findings/report.h"
#include "findings/sarif.h"
#include "findings/suppress.h"
#include "flags.h"
#include "layout.h"
#include "model/figures.h"
#include "modelled.h"
#include "process.h"
#include "program.h"
#include "record.h"
#include "scratch.h"
#include "target.h"
#include "terminal.h"
#include "trace.h"
#include "verb.h"
#include "watch.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

struct RunFlags {
  ProgramRequest program;
  DeviceFlags device;
  bool count = false;
  std::string trace;  // a file
  bool model = false;
  std::string clock;  // of events: "model", or the host's
  std::string json;   // a file
  bool strict = false;
  std::string sarif, suppressions;  // files

  bool wants_findings() const { return strict || !sarif.empty(); }
};

// The environment that makes the device tell what it does; an injected library does, where it is a
// real one.
Status ask_for_trace(const Target& target, const TraceFile& trace, Environment& environment) {
  environment.emplace_back("RIDGE_TRACE", trace.path());
  if (target.software) return Status::ok();
  const fs::path library = layout().software_gpu / "libridge_trace.so";
  if (!fs::exists(library))
    return Error{
        kMissing,
        "a trace of a real GPU needs CUPTI, which the CUDA toolkit did not have when Ridge "
        "was built; --device vm traces on the software GPU"};
  environment.emplace_back("CUDA_INJECTION64_PATH", library);
  return Status::ok();
}

// The exit code after a run whose findings matter.
Expected<int> judge(const RunFlags& flags, const fs::path& wire, int code) {
  std::ifstream in(wire);
  Findings findings = read_findings(in);
  if (const Status known = suppress(findings, flags.suppressions); !known) return known.error();
  if (!flags.sarif.empty())
    if (const Status written = write_record(to_sarif(findings), flags.sarif); !written)
      return written.error();
  return flags.strict ? exit_code(findings, code) : code;
}

int run_on(const Target& target, const RunFlags& flags) {
  TraceFile trace;
  Environment asked;
  if (!flags.trace.empty()) {
    Status ready = trace.open(flags.trace);
    if (ready) ready = ask_for_trace(target, trace, asked);
    if (!ready) return failed(ready);
  }
  auto command = command_for(flags.program, target);
  if (!command) return failed(command.error());
  command->environment.insert(command->environment.end(), asked.begin(), asked.end());
  const CountFile count(flags.count);
  if (flags.count) command->environment.emplace_back("RIDGE_COUNT", count.path());
  const ScratchFolder scratch;
  if ((flags.wants_findings() || flags.model) && !scratch.ready()) {
    complain(fmt::format("no temporary folder: {}", std::strerror(errno)));
    return kMissing;
  }
  const fs::path wire = scratch / "findings.json";
  if (flags.wants_findings()) command->environment.emplace_back("RIDGE_FINDINGS", wire);
  if (flags.strict) command->environment.emplace_back("RIDGE_STRICT", "1");
  const fs::path times = scratch / "times.json";
  if (flags.model) command->environment.emplace_back("RIDGE_MODEL", times);
  if (flags.clock == "model") command->environment.emplace_back("RIDGE_CLOCK", "model");
  if (flags.model || flags.clock == "model") ask_for_registers(command->environment);

  trace.begin();
  const Outcome outcome = run(*command);
  int code = report_end(outcome, flags.program);
  if (flags.wants_findings()) {
    const auto judged = judge(flags, wire, code);
    if (!judged) complain(judged.error().message);
    code = judged ? *judged : judged.error().code;
  }
  if (flags.model) {
    nlohmann::json modelled = read_modelled(times);
    if (modelled["kernels"].empty() && modelled["copies"].empty())
      complain("no time: no kernel ran");
    else if (flags.json != "-")
      fmt::print("{}", modelled_table(modelled, std::string(target.gpu.name)));
    modelled["gpu"] = target.gpu.name;
    modelled["checked"] = model::figures_of(target.gpu).checked;
    if (!flags.json.empty())
      if (const Status written = write_record(modelled, flags.json); !written)
        return failed(written);
  }
  if (const auto counted = count.warp_instructions())
    complain(fmt::format("{} warp instructions", thousands(*counted)));
  else if (flags.count) complain("no count: no kernel ran");
  if (!flags.trace.empty()) {
    const size_t events = trace.finish();
    if (events == 0) complain(fmt::format("{} is empty: nothing ran on the device", flags.trace));
    else if (!flags.program.quiet)
      complain(fmt::format("{} events in {}, for https://ui.perfetto.dev or chrome://tracing",
                           thousands(events), flags.trace));
  }
  return code;
}

int run_main(const Arguments& arguments) {
  RunFlags flags;
  CommandLine line("run", "Compiles and runs a .cu file, or runs a built program.");
  line.add_argument("FILE", flags.program.file,
                    "a .cu file, a program built with nvcc -cudart shared, or a .py file");
  line.add_option("--nvcc", flags.program.nvcc, "FLAGS",
                  "give these flags to nvcc: --nvcc \"-DN=8 -I include\"");
  line.add_option("--python", flags.program.python, "PATH",
                  "run a .py file with this Python, or the one of the environment in this folder");
  line.add_footer(
      "Arguments after a bare -- go to the program. The exit code is the program's own.\n"
      "Compiled programs are kept in $XDG_CACHE_HOME/ridge (~/.cache/ridge).");
  line.add_device(flags.device);
  line.add_threads(flags.device);
  line.add_timeout(flags.program.timeout);
  line.add_flag("--count", flags.count, "count warp instructions (software GPU)");
  line.add_option("--trace", flags.trace, "FILE",
                  "write what every stream did, and when, for chrome://tracing and Perfetto");
  line.add_flag("--model", flags.model,
                "print how long each kernel and copy would take on an H200 or on what --gpu says, "
                "and what holds it up (software GPU)");
  line.add_option("--clock", flags.clock, "CLOCK",
                  "model: cudaEventElapsedTime says how long it would take on that GPU; host: how "
                  "long it took here (default; software GPU)");
  line.add_json(flags.json);
  line.add_flag(
      "--strict", flags.strict,
      "exit with 5 after any report and with 6 after a timeout, and report every access outside "
      "an allocation, even by one byte (software GPU)");
  line.add_option("--sarif", flags.sarif, "FILE",
                  "write the findings as SARIF, for code hosts and editors (software GPU)");
  line.add_option("--suppress", flags.suppressions, "FILE",
                  "leave out the findings that this file lists, for --strict and --sarif (default: "
                  ".ridge-suppress, "
                  "if there is one)");
  line.add_watch(flags.program.watch);
  line.add_quiet(flags.program.quiet);
  if (const auto done = line.parse(arguments, &flags.program.arguments)) return *done;

  if (flags.program.file.empty()) {
    complain("run what? usage: ridge run FILE.cu [flags] [-- arguments of the program]");
    return kUsage;
  }
  if (const Status ready = check_request(flags.program); !ready) return failed(ready);
  const auto target = choose_target(flags.device);
  if (!target) return failed(target.error());
  if (flags.count && !target->software) {
    complain("only the software GPU counts instructions: add --device vm");
    return kUsage;
  }
  if (flags.wants_findings() && !target->software) {
    complain("--strict and --sarif are about reports of the software GPU: add --device vm");
    return kUsage;
  }
  if (flags.model && !target->software) {
    complain("a GPU takes its own time: --model is for the software GPU, add --device vm");
    return kUsage;
  }
  if (!flags.clock.empty() && flags.clock != "model" && flags.clock != "host") {
    complain(fmt::format("--clock is model or host, not '{}'", flags.clock));
    return kUsage;
  }
  if (flags.clock == "model" && !target->software) {
    complain("a GPU has its own clock: --clock model is for the software GPU, add --device vm");
    return kUsage;
  }
  if (!flags.json.empty() && !flags.model) {
    complain("--json writes modelled times: add --model");
    return kUsage;
  }
  if (const Status ready = check_writable(flags.sarif); !ready) return failed(ready);
  if (const Status ready = check_writable(flags.json); !ready) return failed(ready);
  return run_or_watch(flags.program, [&] { return run_on(*target, flags); });
}

}  // namespace

extern const Verb run_verb = {
    .position = 10,
    .name = "run",
    .summary = "compile and run a .cu file, or run a built program",
    .main = run_main,
};

}  // namespace ridge::tools
