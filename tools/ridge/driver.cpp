#include "driver.h"

#include <dlfcn.h>

#include <cstddef>

#include "model/figures.h"

namespace ridge::tools {
namespace {

// Numbers of CUdevice_attribute, as the driver API documents them.
enum Attribute : int {
  kClockKhz = 13,
  kSmCount = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kThreadsPerSm = 39,
  kCopyEngines = 40,
  kMajor = 75,
  kMinor = 76,
  kSharedPerSm = 81,
  kRegistersPerSm = 82,
  kSharedPerBlockOptin = 97,
  kBlocksPerSm = 106,
  kSharedReservedPerBlock = 111,
};

}  // namespace

std::optional<RealGpu> find_real_gpu() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // stays: it does not like to go
  if (!library) return std::nullopt;
  // Inside `ridge run`, or with LD_LIBRARY_PATH set by hand, it may be the software GPU's.
  if (dlsym(library, "ridge_vm_counts")) return std::nullopt;
  bool complete = true;
  const auto load = [&]<class F>(const char* name, F*& function) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    complete = complete && function;
  };
  int (*init)(unsigned);
  int (*version)(int*);
  int (*device_count)(int*);
  int (*device_get)(int*, int);
  int (*device_name)(char*, int, int);
  int (*device_memory)(size_t*, int);
  int (*device_attribute)(int*, int, int);
  load("cuInit", init);
  load("cuDriverGetVersion", version);
  load("cuDeviceGetCount", device_count);
  load("cuDeviceGet", device_get);
  load("cuDeviceGetName", device_name);
  load("cuDeviceTotalMem_v2", device_memory);
  load("cuDeviceGetAttribute", device_attribute);
  if (!complete) return std::nullopt;

  RealGpu gpu;
  int device = 0, driver = 0;
  if (init(0) != 0 || device_count(&gpu.count) != 0 || gpu.count == 0) return std::nullopt;
  if (device_get(&device, 0) != 0 || version(&driver) != 0) return std::nullopt;
  gpu.driver_version = std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);

  char name[256] = {};
  size_t memory = 0;
  device_name(name, sizeof name - 1, device);
  device_memory(&memory, device);
  gpu.name = name;
  const auto ask = [&](Attribute attribute) {
    int value = 0;
    device_attribute(&value, attribute, device);
    return value;
  };
  gpu.spec = {.key = {},
              .name = {},
              .major = ask(kMajor),
              .minor = ask(kMinor),
              .sm_count = ask(kSmCount),
              .max_threads_per_sm = ask(kThreadsPerSm),
              .max_blocks_per_sm = ask(kBlocksPerSm),
              .registers_per_sm = ask(kRegistersPerSm),
              .shared_per_sm = ask(kSharedPerSm),
              .shared_per_block_optin = ask(kSharedPerBlockOptin),
              .shared_reserved_per_block = ask(kSharedReservedPerBlock),
              .memory_bytes = int64_t(memory),
              .l2_bytes = ask(kL2Bytes),
              .clock_khz = ask(kClockKhz),
              .memory_clock_khz = ask(kMemoryClockKhz),
              .memory_bus_bits = ask(kMemoryBusBits),
              .copy_engines = ask(kCopyEngines)};
  // What the driver does not tell: that of a card that Ridge knows, or of the nearest one.
  for (const GpuSpec& known : all_gpus())
    if (known.name == gpu.name) {
      gpu.spec.key = known.key;
      gpu.spec.name = known.name;
      gpu.spec.gpcs = known.gpcs;
    }
  const model::Figures figures = model::figures_of(gpu.spec);
  gpu.spec.fp32_lanes_per_sm = int(figures.fma_lanes);
  gpu.spec.fp64_lanes_per_sm = int(figures.fp64_lanes);
  return gpu;
}

}  // namespace ridge::tools
