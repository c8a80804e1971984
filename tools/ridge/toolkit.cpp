#include "toolkit.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "process.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> on_path(const char* name) {
  std::vector<fs::path> found;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty()) found.push_back(fs::path(folder) / name);
  return found;
}

bool can_run(const fs::path& program) {
  std::error_code error;
  return access(program.c_str(), X_OK) == 0 && !fs::is_directory(program, error);
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> found = on_path("nvcc");
  if (const char* home = std::getenv("CUDA_HOME"); home && *home)
    found.push_back(fs::path(home) / "bin" / "nvcc");
  found.emplace_back("/usr/local/cuda/bin/nvcc");
  found.emplace_back(RIDGE_NVCC);
  return found;
}

// The rest of the line after `key`.
std::string after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return text.substr(begin, text.find_first_of("\n", begin) - begin);
}

}  // namespace

Expected<Compiler> find_compiler() {
  for (const fs::path& nvcc : candidates()) {
    if (!can_run(nvcc)) continue;
    const std::string version =
        after(run({.program = nvcc, .arguments = {"--version"}, .capture = true}).output, ", V");
    if (version.starts_with("13.")) return Compiler{nvcc, version};
  }
  return Error{kMissing,
               "no CUDA compiler: nvcc of CUDA 13 is neither on PATH nor in $CUDA_HOME/bin nor in "
               "/usr/local/cuda/bin.\n"
               "  ./ridge gets one by itself where it can reach PyPI; otherwise install the CUDA "
               "toolkit, version 13."};
}

Expected<Toolkit> find_toolkit() {
  const auto compiler = find_compiler();
  if (!compiler) return compiler.error();
  // nvcc may be a wrapper script somewhere else, so it is asked where its toolkit lies.
  const Command question = {
      .program = compiler->nvcc, .arguments = {"--dryrun", "none.cu"}, .capture = true};
  const std::string root = after(run(question).output, "TOP=");
  if (root.empty())
    return Error{kMissing, compiler->nvcc.string() + " does not say where its toolkit lies"};
  Toolkit toolkit;
  static_cast<Compiler&>(toolkit) = *compiler;
  std::error_code error;
  toolkit.root = fs::weakly_canonical(root, error);
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
    if (toolkit.library.empty() && fs::exists(toolkit.root / folder / "libcudart.so.13", error))
      toolkit.library = toolkit.root / folder;
  return toolkit;
}

fs::path find_nvdisasm(const Toolkit& toolkit) {
  std::vector<fs::path> places = on_path("nvdisasm");
  places.push_back(toolkit.nvcc.parent_path() / "nvdisasm");
  places.push_back(toolkit.root / "bin" / "nvdisasm");
  const auto found = std::ranges::find_if(places, can_run);
  return found == places.end() ? fs::path() : fs::absolute(*found);
}

}  // namespace ridge::tools
