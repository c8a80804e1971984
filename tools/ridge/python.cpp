#include "python.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "layout.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

fs::path on_path(const std::string& name) {
  const std::string path = variable("PATH");
  for (size_t from = 0; from <= path.size();) {
    const size_t to = std::min(path.find(':', from), path.size());
    if (const fs::path file = fs::path(path.substr(from, to - from)) / name; is_program(file))
      return file;
    from = to + 1;
  }
  return {};
}

// In front of what the variable holds in this environment, or else outside it.
void prepend(Environment& environment, const std::string& name, const std::string& value) {
  const std::string old = variable(name.c_str());
  environment.emplace_back(name, old.empty() ? value : value + ":" + old);
}

}  // namespace

bool is_python(const fs::path& file) { return file.extension() == ".py"; }

fs::path own_python_folder() {
  if (!layout().installed)
    if (const std::string script = variable("RIDGE_SCRIPT"); !script.empty())
      return fs::path(script).parent_path() / ".ridge" / "python";
  if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with('/'))
    return fs::path(data) / "ridge" / "python";
  return fs::path(variable("HOME")) / ".local" / "share" / "ridge" / "python";
}

Expected<fs::path> find_python(const std::string& asked) {
  if (!asked.empty()) {
    if (is_program(asked)) return fs::path(asked);
    if (is_program(fs::path(asked) / "bin" / "python")) return fs::path(asked) / "bin" / "python";
    if (const fs::path found = on_path(asked); !found.empty()) return found;
    return Error{kUsage, fmt::format("--python: there is no program '{}'", asked)};
  }
  std::vector<fs::path> known;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string folder = variable(name); !folder.empty()) known.emplace_back(folder);
  known.push_back(own_python_folder());
  for (const fs::path& folder : known)
    if (is_program(folder / "bin" / "python")) return folder / "bin" / "python";
  for (const char* name : {"python3", "python"})
    if (const fs::path found = on_path(name); !found.empty()) return found;
  return Error{kMissing,
               "there is no python3 on PATH: --python names one, and ridge python --install makes "
               "one with Triton, which needs a python3 to begin with"};
}

Expected<Command> python_command(const ProgramRequest& request, const Target& target) {
  const auto python = find_python(request.python);
  if (!python) return python.error();
  Command command = {.program = *python, .arguments = {request.file}};
  command.arguments.insert(command.arguments.end(), request.arguments.begin(),
                           request.arguments.end());
  const auto hooks = find_part("Ridge's part of Python is", layout().software_gpu / "python");
  if (!hooks) return hooks.error();
  // A real GPU is used with the system's own libraries, for which Python's were made.
  if (target.software) command.environment = environment_of(target);
  prepend(command.environment, "PYTHONPATH", *hooks);
  command.environment.emplace_back("RIDGE_PYTHON", "1");
  if (!target.software) return command;
  command.environment.emplace_back("TRITON_LIBCUDA_PATH", target.runtime);
  // What is printed stands between the reports where it belongs.
  command.environment.emplace_back("PYTHONUNBUFFERED", "1");
  return command;
}

}  // namespace ridge::tools
