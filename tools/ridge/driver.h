// Questions to the real GPU, through NVIDIA's driver library. The library is loaded at run time, so
// that Ridge starts on machines without it.
#pragma once

#include <optional>
#include <string>

#include "core/gpu_spec.h"

namespace ridge::tools {

struct RealGpu {
  std::string name;
  std::string driver_version;  // the CUDA version it supports, "13.0"
  int count = 0;               // of GPUs here; this is the first
  GpuSpec spec;                // key and name are empty if gpus.json has no such card
};

// Nothing, if libcuda.so.1 does not load, does not start, or finds no device.
std::optional<RealGpu> find_real_gpu();

}  // namespace ridge::tools
