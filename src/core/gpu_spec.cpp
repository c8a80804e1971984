#include "core/gpu_spec.h"

#include <algorithm>
#include <cctype>

namespace ridge {

const std::vector<GpuSpec>& all_gpus() {
  static const std::vector<GpuSpec> gpus = {
#include "gpu_specs.inc"  // made of gpus.json
  };
  return gpus;
}

std::optional<GpuSpec> find_gpu(std::string_view key) {
  const auto same = [](char a, char b) {
    return std::tolower(uint8_t(a)) == std::tolower(uint8_t(b));
  };
  for (const GpuSpec& gpu : all_gpus())
    if (std::equal(key.begin(), key.end(), gpu.key.begin(), gpu.key.end(), same)) return gpu;
  return std::nullopt;
}

}  // namespace ridge
