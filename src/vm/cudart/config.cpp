#include "vm/cudart/config.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "vm/cudart/report.h"

namespace ridge::vm::cudart {
namespace {

constexpr std::string_view kDefaultGpu = "h200";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::string_view(value) : std::string_view();
}

std::optional<double> number(const char* name) {
  const std::string text(variable(name));
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end == '\0' && std::isfinite(value) && value >= 0) return value;
  report(std::string(name) + "=" + text + " is not a number of 0 or more; ignored");
  return std::nullopt;
}

GpuSpec chosen_gpu() {
  std::string_view key = variable("RIDGE_GPU");
  if (key.empty()) key = kDefaultGpu;
  if (const auto gpu = find_gpu(key)) return *gpu;
  std::string known;
  for (const GpuSpec& gpu : all_gpus()) known += " " + std::string(gpu.key);
  report("there is no GPU called '" + std::string(key) + "'; known:" + known + ". Using " +
         std::string(kDefaultGpu));
  return *find_gpu(kDefaultGpu);
}

Config read() {
  Config c;
  c.gpu = chosen_gpu();
  c.threads = unsigned(number("RIDGE_THREADS").value_or(0));
  c.timeout_seconds = number("RIDGE_TIMEOUT").value_or(0);
  c.progress = variable("RIDGE_PROGRESS") == "1";
  c.strict = variable("RIDGE_STRICT") == "1";
  c.open_memory = variable("RIDGE_OPEN_MEMORY") == "1";
  const std::string_view count = variable("RIDGE_COUNT");
  c.count = !count.empty() && count != "0";
  if (c.count && count != "1") c.count_file = count;
  c.trace_file = variable("RIDGE_TRACE");
  return c;
}

}  // namespace

const Config& config() {
  // Never destroyed: work may still run while the process exits.
  static const Config& c = *new Config(read());
  return c;
}

}  // namespace ridge::vm::cudart
