// ridge python: which Python runs programs, and what it has; --install makes one with Triton.
#include <filesystem>

#include <fmt/format.h>

#include "flags.h"
#include "process.h"
#include "python.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

// What is asked of PyPI, and about what it takes (Triton 3.9: 303 MB, with PyTorch 2.15: 3.02 GB).
constexpr const char* kSmall =
    "about 300 MB are downloaded from PyPI and take 1.1 GB of disk: Triton and NumPy";
constexpr const char* kLarge =
    "about 3 GB are downloaded from PyPI and take 5.5 GB of disk: Triton, NumPy, PyTorch and the "
    "CUDA libraries that PyTorch depends on";

constexpr const char* kAsk = R"(import importlib.metadata as m, sys
print("Python", sys.version.split()[0])
for name in ("triton", "torch", "numpy"):
    try: print(" ", name, m.version(name))
    except m.PackageNotFoundError: print(" ", name, "is not there")
)";

int show(const std::string& asked) {
  const auto python = find_python(asked);
  if (!python) return failed(python.error());
  const Outcome outcome = run({.program = *python, .arguments = {"-c", kAsk}, .capture = true});
  if (!outcome.ok()) {
    complain(fmt::format("{} does not work: {}", python->string(), outcome.output));
    return kMissing;
  }
  fmt::print("{}\n{}", python->string(), outcome.output);
  return 0;
}

int install(const std::string& asked, bool torch, bool quiet) {
  const fs::path folder = own_python_folder();
  const auto base = find_python(asked.empty() ? "python3" : asked);
  if (!base) return failed(base.error());
  complain(fmt::format("{}.\n  They go to {}; delete the folder to be rid of them.",
                       torch ? kLarge : kSmall, folder.string()));
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  const Outcome made =
      run({.program = *base, .arguments = {"-m", "venv", folder}, .capture = true});
  if (!made.ok()) {
    complain(fmt::format("{} cannot make an environment in {}: {}", base->string(), folder.string(),
                         made.output));
    return kMissing;
  }
  Command pip = {
      .program = folder / "bin" / "python",
      .arguments = {"-m", "pip", "install", "--disable-pip-version-check", "triton", "numpy"}};
  if (torch) pip.arguments.push_back("torch");
  if (quiet) pip.arguments.push_back("--quiet");
  const Outcome got = run(pip);  // pip shows its progress
  if (!got.ok()) {
    complain("pip could not install them; its message is above. Does this machine reach PyPI?");
    return kMissing;
  }
  if (!quiet) complain("ridge run FILE.py takes this Python where no other environment is active");
  return show(folder);
}

int python_main(const Arguments& arguments) {
  std::string python;
  bool makes = false, torch = false, quiet = false;
  CommandLine line("python",
                   "Says which Python runs FILE.py, and whether it has Triton. --install makes one "
                   "that has: nothing is downloaded without it.");
  line.add_option("--python", python, "PATH", "this Python, or the environment in this folder");
  line.add_flag("--install", makes, "make an environment with Triton and NumPy, in .ridge");
  line.add_flag("--torch", torch, "with --install: PyTorch, too");
  line.add_quiet(quiet);
  if (const auto done = line.parse(arguments)) return *done;
  if (torch && !makes) {
    complain("--torch says what is installed: add --install");
    return kUsage;
  }
  return makes ? install(python, torch, quiet) : show(python);
}

}  // namespace

extern const Verb python_verb = {
    .position = 95,
    .name = "python",
    .summary = "say which Python runs programs, or make one with Triton",
    .main = python_main,
};

}  // namespace ridge::tools
