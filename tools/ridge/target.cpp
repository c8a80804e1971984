#include "target.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver.h"
#include "layout.h"
#include "toolkit.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuntime = "libcudart.so.13";

Expected<Target> software_target(const DeviceFlags& flags) {
  Target target;
  target.gpu = flags.gpu.empty() ? all_gpus().front() : *find_gpu(flags.gpu);
  target.name = std::string(target.gpu.name);
  target.threads = flags.threads;
  target.runtime = layout().software_gpu;
  if (const auto runtime = find_part("the software GPU is", target.runtime / kRuntime); !runtime)
    return runtime.error();
  return target;
}

// In front of what the variable already holds.
std::string prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  return old && *old ? value + ":" + old : value;
}

}  // namespace

Expected<Target> choose_target(const DeviceFlags& flags) {
  if (flags.device == "gpu" && !flags.gpu.empty())
    return Error{kUsage,
                 "--gpu says what the software GPU pretends to be; a real GPU is what it is"};
  if (flags.device == "vm" || !flags.gpu.empty()) return software_target(flags);
  if (const auto real = find_real_gpu()) {
    Target target;
    target.software = false;
    target.name = real->name;
    target.driver_version = real->driver_version;
    target.gpu = real->spec;
    if (const auto toolkit = find_toolkit()) target.runtime = toolkit->library;
    return target;
  }
  if (flags.device == "gpu")
    return Error{kMissing,
                 "no GPU here: libcuda.so.1 is missing, does not start, or finds no device; "
                 "--device vm runs on the software GPU"};
  return software_target(flags);
}

Expected<Target> choose_observed_target(DeviceFlags flags) {
  if (flags.device == "gpu")
    return Error{kUsage, "only the software GPU sees every access: leave out --device gpu"};
  flags.device = "vm";
  return choose_target(flags);
}

Environment environment_of(const Target& target) {
  Environment environment;
  std::string libraries = target.runtime;
  if (target.software) libraries += ":" + layout().standins.string();
  if (!libraries.empty())
    environment.emplace_back("LD_LIBRARY_PATH", prepend("LD_LIBRARY_PATH", libraries));
  if (!target.software) return environment;
  environment.emplace_back("RIDGE_GPU", target.gpu.key);
  // Triton keeps the PTX it would have had turned into machine code.
  for (const char* variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    environment.emplace_back(variable, target.runtime / "triton" / "ptxas");
  if (target.threads > 0) environment.emplace_back("RIDGE_THREADS", std::to_string(target.threads));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // Our runtime brings the sanitizer along, which insists on being loaded first. Leaks are looked
  // for in our own tests, not in a program that may well leave its memory to the system.
  environment.emplace_back("LD_PRELOAD", prepend("LD_PRELOAD", RIDGE_SANITIZER));
  environment.emplace_back("ASAN_OPTIONS", prepend("ASAN_OPTIONS", "detect_leaks=0"));
#endif
  return environment;
}

nlohmann::json record_of(const Target& target) {
  const Host here = host();
  nlohmann::json record = {
      {"schema", 1},
      {"ridge", RIDGE_VERSION},
      {"device",
       {{"kind", target.software ? "vm" : "gpu"},
        {"name", target.name},
        {"capability", fmt::format("{}.{}", target.gpu.major, target.gpu.minor)}}},
      {"host", {{"cpu", here.cpu}, {"cores", here.cores}, {"simd", here.simd}}},
  };
  if (!target.software) record["device"]["driver"] = target.driver_version;
  if (target.software && target.threads > 0) record["device"]["threads"] = target.threads;
  if (const auto toolkit = find_toolkit()) record["toolkit"] = toolkit->version;
  return record;
}

Host host() {
  Host here;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; here.cpu.empty() && std::getline(cpuinfo, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        here.cpu = line.substr(colon + 2);
  cpu_set_t allowed;
  here.cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  here.simd = __builtin_cpu_supports("avx512f") ? "AVX-512"
              : __builtin_cpu_supports("avx2")  ? "AVX2"
                                                : "SSE2";
  here.memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  return here;
}

}  // namespace ridge::tools
