#include "program.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile.h"
#include "core/closed_libraries.h"
#include "elf_file.h"
#include "families.h"
#include "layout.h"
#include "python.h"
#include "suggest.h"
#include "terminal.h"
#include "toolkit.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr double kGrace = 3;  // seconds the software GPU gets to report before the program is ended
constexpr double kPythonGrace = 60;  // and Python to import and compile
constexpr const char* kRuntime = "libcudart.so.13";
constexpr const char* kDriver = "libcuda.so.1";

std::string nearest_file(const std::string& file) {
  std::vector<std::string> names;
  const fs::path path(file);
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error))
    names.push_back(path.has_parent_path() ? entry.path().string()
                                           : entry.path().filename().string());
  return did_you_mean(file, names);
}

// What closed libraries it has that Ridge has nothing for, linked or in files: "cuBLAS
// (libcublas.so.13), cuFFT".
std::string closed_libraries_of(const CudaUse& use) {
  std::vector<std::string> names;
  for (const std::string& file : use.closed)
    if (!has_standin(file)) names.push_back(describe(*find_closed_library(file), file));
  for (const std::string& name : use.program.closed) names.push_back(name + " (linked statically)");
  return fmt::format("{}", fmt::join(names, ", "));
}

// What Ridge has in place of closed libraries is built by now.
Status prepare_standins(const std::string& name, const CudaUse& use, bool quiet) {
  std::vector<std::string> files;
  for (const std::string& file : use.closed)
    if (has_standin(file)) files.push_back(file);
  if (files.empty()) return Status::ok();
  if (const Status built = need_cublas(quiet); !built) return built;
  for (const std::string& file : files)
    if (const auto found = find_part("Ridge's cuBLAS is", layout().standins / file); !found)
      return found.error();
  if (!quiet)
    complain(
        fmt::format("note: {} is linked with {}: Ridge's own takes its place, see docs/cublas.md",
                    name, fmt::join(files, ", ")));
  return Status::ok();
}

// Whether the software GPU can get between this program and the CUDA runtime; if not, why.
Status check_for_software(const fs::path& program, const CudaUse& use, bool quiet) {
  const std::string name = program.filename();
  if (!use.program.x86_64)
    return Error{kMissing, fmt::format("{} is not a program for x86-64", name)};
  // nvcc links the static runtime into a program without device code, too; the driver's caller may
  // be one.
  const bool driver = std::ranges::count(use.program.needed, kDriver) > 0;
  const bool needs_runtime = use.program.kernels || !driver;
  if (use.runtime.empty() && use.program.static_runtime && needs_runtime)
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
  for (const std::string& library : use.static_runtime)
    complain(
        fmt::format("{} loads {}, which is linked with the static CUDA runtime: its kernels "
                    "cannot run here.\n  Rebuild it with the shared one: nvcc -cudart shared …",
                    name, library));
  if (const std::string closed = closed_libraries_of(use); !closed.empty())
    complain(
        fmt::format("{} is linked with {}, which cannot run on the software GPU: closed libraries "
                    "hold machine code.\n  Such calls will fail. {}",
                    name, closed, kOpenInstead));
  else if (!quiet && use.closed.empty() && !driver && use.runtime.empty())
    complain(fmt::format("note: {} does not use the CUDA runtime itself", name));
  else if (!quiet && use.closed.empty() && !use.runtime.empty() && !use.program.fat_binary)
    complain(fmt::format("note: {} contains no device code of its own", name));
  return prepare_standins(name, use, quiet);
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

void send_to_software(Command& command, const Target& target, const CudaUse& use) {
  const ElfFacts& program = use.program;
  // An old-style RPATH is searched before LD_LIBRARY_PATH; a library already there wins over both.
  if (!program.rpath.empty() && program.runpath.empty()) {
    for (const char* library : {kRuntime, kDriver})
      if (library == kRuntime || std::ranges::count(program.needed, library))
        preload(command.environment, target.runtime / library);
    for (const std::string& file : use.closed)
      if (has_standin(file)) preload(command.environment, layout().standins / file);
  }
  if (needs_toolkit(program))
    if (const auto toolkit = find_toolkit(); toolkit && !toolkit->library.empty())
      append_library_folder(command.environment, toolkit->library);
}

bool is_source(const fs::path& path) {
  const std::string ending = path.extension();
  return ending == ".cu" || ending == ".cpp" || ending == ".cc" || ending == ".cxx";
}

}  // namespace

Status check_request(const ProgramRequest& request) {
  if (!fs::exists(request.file))
    return Error{kUsage,
                 fmt::format("there is no file '{}'{}", request.file, nearest_file(request.file))};
  if (!request.nvcc.empty() && !is_source(request.file))
    return Error{kUsage,
                 fmt::format("--nvcc has no use here: {} is not a source file", request.file)};
  if (!request.python.empty() && !is_python(request.file))
    return Error{kUsage, fmt::format("--python has no use here: {} is no .py file", request.file)};
  return Status::ok();
}

namespace {

// What the software GPU is told by the environment, and when the program is ended.
void limit(Command& command, const ProgramRequest& request, const Target& target) {
  if (target.software && !request.quiet) command.environment.emplace_back("RIDGE_PROGRESS", "1");
  if (target.software && request.timeout > 0)
    command.environment.emplace_back("RIDGE_TIMEOUT", fmt::format("{}", request.timeout));
  const double grace = is_python(request.file) ? kPythonGrace : kGrace;
  if (request.timeout > 0) command.kill_after = request.timeout + (target.software ? grace : 0);
}

}  // namespace

Expected<Command> command_for(const ProgramRequest& request, const Target& target) {
  if (is_python(request.file)) {
    auto command = python_command(request, target);
    if (command) limit(*command, request, target);
    return command;
  }
  fs::path program = request.file;
  if (is_source(program)) {
    const auto compiled = compile({.source = program,
                                   .extra_flags = request.nvcc,
                                   .quiet = request.quiet,
                                   .inputs = request.inputs},
                                  target);
    if (!compiled) return compiled.error();
    program = *compiled;
  }
  const auto use = inspect_program(program);
  if (!use) return Error{use.error().code, fmt::format("{} {}", request.file, use.error().message)};
  Command command = {.program = fs::absolute(program),
                     .arguments = request.arguments,
                     .environment = environment_of(target)};
  if (target.software) {
    if (const Status ready = check_for_software(program, *use, request.quiet); !ready)
      return ready.error();
    send_to_software(command, target, *use);
  }
  limit(command, request, target);
  return command;
}

int report_end(const Outcome& outcome, const ProgramRequest& request) {
  const std::string name = fs::path(request.file).filename();
  if (outcome.start_error != 0) {
    complain(fmt::format("{} does not start: {}", name, std::strerror(outcome.start_error)));
    return kMissing;
  }
  if (outcome.killed) {
    complain(fmt::format("{} was ended after {:.0f} s (--timeout {:g})", name, outcome.seconds,
                         request.timeout));
    return kTimeout;
  }
  if (outcome.signal != 0) {
    complain(
        fmt::format("{} died of signal {} ({})", name, outcome.signal, strsignal(outcome.signal)));
    return 128 + outcome.signal;
  }
  return outcome.exit_code;
}

}  // namespace ridge::tools
