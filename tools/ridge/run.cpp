// ridge run FILE.cu | PROGRAM [-- arguments]: on the GPU if there is one, else on the software GPU.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compile.h"
#include "count.h"
#include "elf_file.h"
#include "flags.h"
#include "process.h"
#include "suggest.h"
#include "target.h"
#include "terminal.h"
#include "toolkit.h"
#include "trace.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr double kGrace = 3;  // seconds the software GPU gets to report before the program is ended
constexpr const char* kRuntime = "libcudart.so.13";
constexpr const char* kDriver = "libcuda.so.1";

struct RunFlags {
  std::string file;
  std::string nvcc;
  DeviceFlags device;
  double timeout = 0;
  bool count = false;
  std::string trace;  // a file
  bool quiet = false;
  Arguments arguments;  // the program's
};

bool is_source(const fs::path& path) {
  const std::string ending = path.extension();
  return ending == ".cu" || ending == ".cpp" || ending == ".cc" || ending == ".cxx";
}

int refuse_missing_file(const std::string& file) {
  std::vector<std::string> names;
  const fs::path path(file);
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error))
    names.push_back(path.has_parent_path() ? entry.path().string()
                                           : entry.path().filename().string());
  complain(fmt::format("there is no file '{}'{}", file, did_you_mean(file, names)));
  return kUsage;
}

// Whether the software GPU can get between this program and the CUDA runtime; if not, why.
Status check_for_software(const fs::path& program, const CudaUse& use, bool quiet) {
  const std::string name = program.filename();
  // nvcc leaves its mark on a program without device code, too; the driver's caller may be one.
  const bool driver = std::ranges::count(use.program.needed, kDriver) > 0;
  const bool needs_runtime = driver ? use.program.kernels : use.program.fat_binary;
  if (use.runtime.empty() && needs_runtime)
    return Error{
        kMissing,
        fmt::format("{} is linked with the static CUDA runtime, which only a GPU can serve.\n"
                    "  Rebuild it with the shared one: nvcc -cudart shared …\n"
                    "  (with CMake: set CUDA_RUNTIME_LIBRARY to Shared)",
                    name)};
  if (!use.runtime.empty() && use.runtime != kRuntime)
    return Error{kMissing,
                 fmt::format("{} needs {}, but Ridge is {}; rebuild it with a CUDA toolkit of "
                             "version 13",
                             name, use.runtime, kRuntime)};
  if (!use.program.x86_64)
    return Error{kMissing, fmt::format("{} is not a program for x86-64", name)};
  if (quiet) return Status::ok();
  if (use.runtime.empty() && driver) return Status::ok();
  if (use.runtime.empty())
    complain(fmt::format("note: {} does not use the CUDA runtime itself", name));
  else if (!use.program.fat_binary)
    complain(fmt::format("note: {} contains no device code of its own", name));
  return Status::ok();
}

// Whether it loads a library of the toolkit's besides the two that are ours: libnvrtc above all.
bool needs_toolkit(const ElfFacts& program) {
  return std::ranges::any_of(program.needed, [](const std::string& name) {
    return (name.starts_with("libnv") || name.starts_with("libcu")) && name != kRuntime &&
           name != kDriver && !name.starts_with("libcurl");
  });
}

// Behind everything else that is searched.
void append_library_folder(Environment& environment, const fs::path& folder) {
  for (auto& [variable, value] : environment)
    if (variable == "LD_LIBRARY_PATH") value += ":" + folder.string();
}

// After what is preloaded already: a sanitizer has to come first.
void preload(Environment& environment, const fs::path& library) {
  for (auto& [variable, value] : environment)
    if (variable == "LD_PRELOAD") {
      value += ":" + library.string();
      return;
    }
  environment.emplace_back("LD_PRELOAD", library);
}

int report_end(const Outcome& outcome, const RunFlags& flags, const std::string& name) {
  if (outcome.start_error != 0) {
    complain(fmt::format("{} does not start: {}", name, std::strerror(outcome.start_error)));
    return kMissing;
  }
  if (outcome.killed) {
    complain(fmt::format("{} was ended after {:.0f} s (--timeout {:g})", name, outcome.seconds,
                         flags.timeout));
    return kTimeout;
  }
  if (outcome.signal != 0) {
    complain(
        fmt::format("{} died of signal {} ({})", name, outcome.signal, strsignal(outcome.signal)));
    return 128 + outcome.signal;
  }
  return outcome.exit_code;
}

// The environment that makes the device tell what it does; an injected library does, where it is a
// real one.
Status ask_for_trace(const Target& target, const TraceFile& trace, Environment& environment) {
  environment.emplace_back("RIDGE_TRACE", trace.path());
  if (target.software) return Status::ok();
  const fs::path library = fs::weakly_canonical(own_folder() / ".." / "lib" / "libridge_trace.so");
  if (!fs::exists(library))
    return Error{
        kMissing,
        "a trace of a real GPU needs CUPTI, which the CUDA toolkit did not have when Ridge "
        "was built; --device vm traces on the software GPU"};
  environment.emplace_back("CUDA_INJECTION64_PATH", library);
  return Status::ok();
}

int run_on(const Target& target, const RunFlags& flags) {
  Environment environment = environment_of(target);
  TraceFile trace;
  if (!flags.trace.empty()) {
    Status ready = trace.open(flags.trace);
    if (ready) ready = ask_for_trace(target, trace, environment);
    if (!ready) {
      complain(ready.message());
      return ready.code();
    }
  }
  fs::path program = flags.file;
  if (is_source(program)) {
    const auto compiled =
        compile({.source = program, .extra_flags = flags.nvcc, .quiet = flags.quiet}, target);
    if (!compiled) {
      if (!compiled.error().message.empty()) complain(compiled.error().message);
      return compiled.error().code;
    }
    program = *compiled;
  }
  const auto use = inspect_program(program);
  if (!use) {
    complain(fmt::format("{} {}", flags.file, use.error().message));
    return use.error().code;
  }
  Command command = {
      .program = fs::absolute(program), .arguments = flags.arguments, .environment = environment};
  const CountFile count(flags.count);
  if (target.software) {
    if (const Status ready = check_for_software(program, *use, flags.quiet); !ready) {
      complain(ready.message());
      return ready.code();
    }
    // An old-style RPATH is searched before LD_LIBRARY_PATH; a library already there wins over
    // both.
    if (!use->program.rpath.empty() && use->program.runpath.empty())
      for (const char* library : {kRuntime, kDriver})
        if (library == kRuntime || std::ranges::count(use->program.needed, library))
          preload(command.environment, target.runtime / library);
    if (needs_toolkit(use->program))
      if (const auto toolkit = find_toolkit(); toolkit && !toolkit->library.empty())
        append_library_folder(command.environment, toolkit->library);
    if (!flags.quiet) command.environment.emplace_back("RIDGE_PROGRESS", "1");
    if (flags.timeout > 0)
      command.environment.emplace_back("RIDGE_TIMEOUT", fmt::format("{}", flags.timeout));
    if (flags.count) command.environment.emplace_back("RIDGE_COUNT", count.path());
  }
  if (flags.timeout > 0) command.kill_after = flags.timeout + (target.software ? kGrace : 0);

  trace.begin();
  const Outcome outcome = run(command);
  const int code = report_end(outcome, flags, fs::path(flags.file).filename());
  if (const auto counted = count.warp_instructions())
    complain(fmt::format("{} warp instructions", thousands(*counted)));
  else if (flags.count) complain("no count: no kernel ran");
  if (!flags.trace.empty()) {
    const size_t events = trace.finish();
    if (events == 0) complain(fmt::format("{} is empty: nothing ran on the device", flags.trace));
    else if (!flags.quiet)
      complain(fmt::format("{} events in {}, for https://ui.perfetto.dev or chrome://tracing",
                           thousands(events), flags.trace));
  }
  return code;
}

}  // namespace

int run_verb(const Arguments& arguments) {
  RunFlags flags;
  CommandLine line("run", "Compiles and runs a .cu file, or runs a built program.");
  line.add_argument("FILE", flags.file, "a .cu file, or a program built with nvcc -cudart shared");
  line.add_option("--nvcc", flags.nvcc, "FLAGS",
                  "more flags for nvcc: --nvcc \"-DN=8 -I include\"");
  line.add_footer(
      "What follows a bare -- goes to the program. Its exit code is ours.\n"
      "Compiled programs are kept in $XDG_CACHE_HOME/ridge (~/.cache/ridge).");
  line.add_device(flags.device);
  line.add_threads(flags.device);
  line.add_timeout(flags.timeout);
  line.add_flag("--count", flags.count, "count warp instructions (software GPU)");
  line.add_option("--trace", flags.trace, "FILE",
                  "write what every stream did, and when, for chrome://tracing and Perfetto");
  line.add_quiet(flags.quiet);
  if (const auto done = line.parse(arguments, &flags.arguments)) return *done;

  if (flags.file.empty()) {
    complain("run what? usage: ridge run FILE.cu [flags] [-- arguments of the program]");
    return kUsage;
  }
  if (!fs::exists(flags.file)) return refuse_missing_file(flags.file);
  if (!flags.nvcc.empty() && !is_source(flags.file)) {
    complain(fmt::format("--nvcc has no use here: {} is not a source file", flags.file));
    return kUsage;
  }
  const auto target = choose_target(flags.device);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  if (flags.count && !target->software) {
    complain("only the software GPU counts instructions: add --device vm");
    return kUsage;
  }
  return run_on(*target, flags);
}

}  // namespace ridge::tools
