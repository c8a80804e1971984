#include "profile/resources.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "process.h"
#include "toolkit.h"

namespace ridge::tools::profile {
namespace {

namespace fs = std::filesystem;

constexpr double kPatience = 60;  // seconds for one kernel

// The number that ends right before `words`; 0 where they are not there.
uint32_t number_before(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  if (at == std::string_view::npos) return 0;
  size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  uint32_t value = 0;
  std::from_chars(text.data() + begin, text.data() + at, value);
  return value;
}

// sm_90 for PTX of any older kind; its own where it is for one architecture only (sm_90a).
std::string architecture(const std::vector<std::string>& ptx, const GpuSpec& gpu) {
  for (const std::string& line : ptx) {
    if (!line.starts_with(".target ")) continue;
    const std::string target = line.substr(8, line.find_first_of(", \r", 8) - 8);
    if (!target.empty() && (target.back() == 'a' || target.back() == 'f')) return target;
    break;
  }
  return fmt::format("sm_{}{}", gpu.major, gpu.minor);
}

// What is said of one kernel where it is said of several.
std::string_view about(std::string_view output, const std::string& kernel) {
  constexpr std::string_view kBegin = "Compiling entry function '";
  const size_t begin = output.find(fmt::format("{}{}'", kBegin, kernel));
  if (begin == output.npos) return output.find(kBegin) == output.npos ? output : "";
  return output.substr(begin, output.find(kBegin, begin + 1) - begin);
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool read_ptxas(std::string_view all, const std::string& kernel, Resources& resources) {
  const std::string_view output = about(all, kernel);
  const size_t used = output.find("Used ");
  if (used == std::string_view::npos || output.find(" registers", used) == std::string_view::npos)
    return false;
  resources.registers = number_before(output.substr(used), " registers");
  resources.static_shared = number_before(output.substr(used), " bytes smem");
  resources.spill_stores = number_before(output, " bytes spill stores");
  resources.spill_loads = number_before(output, " bytes spill loads");
  resources.local_bytes = number_before(output, " bytes stack frame");
  resources.from_ptxas = true;
  return true;
}

void ask_ptxas(Profile& profile, const GpuSpec& gpu) {
  if (profile.ptx_files.empty()) return;
  const auto toolkit = find_toolkit();
  if (!toolkit) return;
  const fs::path ptxas = toolkit->root / "bin" / "ptxas";
  if (!fs::exists(ptxas)) return;
  std::map<std::string, std::string> said;  // by kernel: some are launched in several shapes
  for (Kernel& kernel : profile.kernels) {
    const auto file = profile.ptx_files.find(kernel.mangled);
    if (file == profile.ptx_files.end()) continue;
    const auto [answer, first] = said.try_emplace(kernel.mangled);
    if (first && !kernel.ptxas_said.empty()) answer->second = contents(kernel.ptxas_said);
    else if (first)
      answer->second =
          run({.program = ptxas,
               .arguments = {"-v", "-arch", architecture(profile.ptx[kernel.mangled], gpu), "-e",
                             kernel.mangled, "-o", "/dev/null", file->second},
               .capture = true,
               .kill_after = kPatience})
              .output;
    read_ptxas(answer->second, kernel.mangled, kernel.resources);
    // Since compute capability 9 a thread has 16 at least.
    kernel.resources.allocated = std::max(kernel.resources.registers, gpu.major >= 9 ? 16u : 1u);
  }
}

void find_occupancy(Profile& profile, const GpuSpec& gpu) {
  for (Kernel& kernel : profile.kernels)
    kernel.occupancy =
        occupancy(gpu, {int(kernel.block.count()), int(kernel.resources.registers),
                        int64_t(kernel.resources.static_shared) + kernel.resources.dynamic_shared});
}

}  // namespace ridge::tools::profile
