#include "select/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "select/tuning.h"

namespace ridge {
namespace {

constexpr int kMostDevices = 64;

Expected<DeviceInfo> ask(int device) {
  DeviceInfo info;
  int bus_bits = 0, memory_khz = 0, l2 = 0;
  const std::pair<cudaDeviceAttr, int*> wanted[] = {
      {cudaDevAttrComputeCapabilityMajor, &info.major},
      {cudaDevAttrComputeCapabilityMinor, &info.minor},
      {cudaDevAttrMultiProcessorCount, &info.sm_count},
      {cudaDevAttrMaxThreadsPerMultiProcessor, &info.threads_per_sm},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, &info.shared_per_block_optin},
      {cudaDevAttrL2CacheSize, &l2},
      {cudaDevAttrMemoryClockRate, &memory_khz},
      {cudaDevAttrGlobalMemoryBusWidth, &bus_bits}};
  for (const auto& [attribute, value] : wanted)
    if (const cudaError_t error = cudaDeviceGetAttribute(value, attribute, device);
        error != cudaSuccess)
      return Error{int(error), std::string("cannot ask the device: ") + cudaGetErrorString(error)};
  info.l2_bytes = l2;
  info.pin_bandwidth = 2.0 * memory_khz * 1e3 * bus_bits / 8;
  return info;
}

// Of a device that has no name there is none.
const Tuning* tuning_of(int device) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return nullptr;
  const bool software = is_software_gpu();
  // It is never freed: launches may come until the process ends.
  return new Tuning(
      Tuning::load(tuning_folder(properties.name, software), properties.name, software));
}

}  // namespace

bool is_software_gpu() {
  static const bool is = dlsym(RTLD_DEFAULT, "ridge_vm_counts") != nullptr;
  return is;
}

Expected<DeviceInfo> current_device() {
  static std::array<std::atomic<bool>, kMostDevices> known = {};
  static std::array<DeviceInfo, kMostDevices> infos;
  static std::mutex mutex;
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess)
    return Error{int(error), std::string("no CUDA device: ") + cudaGetErrorString(error)};
  if (device >= kMostDevices) return ask(device);
  const auto slot = size_t(device);
  if (known[slot].load(std::memory_order_acquire)) return infos[slot];
  const std::lock_guard lock(mutex);
  if (known[slot].load(std::memory_order_relaxed)) return infos[slot];
  auto info = ask(device);
  if (!info) return info;
  info->tuning = tuning_of(device);
  infos[slot] = *info;
  known[slot].store(true, std::memory_order_release);
  return info;
}

}  // namespace ridge
