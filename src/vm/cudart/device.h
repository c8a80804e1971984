// What the device says about itself.
#pragma once

#include <atomic>
#include <optional>

#include "core/gpu_spec.h"
#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

// Nothing where there is no such attribute.
std::optional<int> device_attribute(const GpuSpec& gpu, cudaDeviceAttr attribute);
cudaDeviceProp device_properties(const GpuSpec& gpu);

// What a program asked for and is given back; nothing changes by it.
struct DeviceHints {
  std::atomic<unsigned> schedule_flags{0};
  std::atomic<cudaFuncCache> cache_config{cudaFuncCachePreferNone};
};
DeviceHints& device_hints();

inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;
inline constexpr const char* kPciBusId = "0000:00:00.0";

}  // namespace ridge::vm::cudart
