#include "toolkit.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "layout.h"
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

// What an nvcc says of itself.
struct Answer {
  std::string version, root;
};
Answer ask(const fs::path& nvcc) {
  Answer answer;
  answer.version =
      after(run({.program = nvcc, .arguments = {"--version"}, .capture = true}).output, ", V");
  // It may be a wrapper script somewhere else, so it is asked where its toolkit lies.
  answer.root = after(
      run({.program = nvcc, .arguments = {"--dryrun", "none.cu"}, .capture = true}).output, "TOP=");
  return answer;
}

// Size and time of a file: one that has changed is asked again.
std::string stamp(const fs::path& file) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0) return "none";
  return fmt::format("{}-{}.{}", s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

// Asking takes longer than a small program runs, so the answer is kept among the compiled programs:
// four lines, of which the second is about the toolkit behind a wrapper.
Answer ask_once(const fs::path& nvcc) {
  const auto folder = cache_folder("run");
  if (!folder) return ask(nvcc);
  const fs::path file =
      *folder / fmt::format("nvcc-{:016x}", std::hash<std::string>()(nvcc.string()));
  const auto behind = [](const Answer& a) { return stamp(fs::path(a.root) / "bin" / "nvcc"); };
  Answer kept;
  std::string own, wrapped;
  std::ifstream in(file);
  if (std::getline(in, own) && std::getline(in, wrapped) && std::getline(in, kept.version) &&
      std::getline(in, kept.root) && own == nvcc.string() + " " + stamp(nvcc) &&
      wrapped == behind(kept))
    return kept;
  const Answer answer = ask(nvcc);
  if (answer.version.empty() || answer.root.empty()) return answer;  // perhaps only this time
  const fs::path made = file.string() + fmt::format("-{}", getpid());  // readers see whole files
  std::ofstream(made) << nvcc.string() << ' ' << stamp(nvcc) << '\n'
                      << behind(answer) << '\n'
                      << answer.version << '\n'
                      << answer.root << '\n';
  std::error_code error;
  fs::rename(made, file, error);
  return answer;
}

Toolkit toolkit_of(const fs::path& nvcc, const Answer& answer) {
  Toolkit toolkit;
  toolkit.nvcc = nvcc;
  toolkit.version = answer.version;
  std::error_code error;
  toolkit.root = fs::weakly_canonical(answer.root, error);
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
    if (toolkit.library.empty() && fs::exists(toolkit.root / folder / "libcudart.so.13", error))
      toolkit.library = toolkit.root / folder;
  return toolkit;
}

}  // namespace

Expected<Toolkit> find_toolkit() {
  for (const fs::path& nvcc : candidates()) {
    if (!can_run(nvcc)) continue;
    const Answer answer = ask_once(nvcc);
    if (answer.version.starts_with("13.") && !answer.root.empty())
      return toolkit_of(nvcc, answer);
  }
  return Error{kMissing,
               "no CUDA compiler: nvcc of CUDA 13 is neither on PATH nor in $CUDA_HOME/bin nor in "
               "/usr/local/cuda/bin.\n"
               "  ./ridge gets one by itself where it can reach PyPI; otherwise install the CUDA "
               "toolkit, version 13."};
}

fs::path find_nvdisasm(const Toolkit& toolkit) {
  std::vector<fs::path> places = on_path("nvdisasm");
  places.push_back(toolkit.nvcc.parent_path() / "nvdisasm");
  places.push_back(toolkit.root / "bin" / "nvdisasm");
  const auto found = std::ranges::find_if(places, can_run);
  return found == places.end() ? fs::path() : fs::absolute(*found);
}

}  // namespace ridge::tools
