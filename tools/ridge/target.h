// The device a program will run on, and the environment that sends it there.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/gpu_spec.h"
#include "core/status.h"
#include "flags.h"
#include "process.h"

namespace ridge::tools {

struct Target {
  bool software = true;
  std::string name;            // "NVIDIA H200": what it is, or says it is
  std::string driver_version;  // of a real GPU
  GpuSpec gpu;
  unsigned threads = 0;  // of the software GPU; 0: one per core
  // The folder with the libcudart.so.13 to load; empty: the system's.
  std::filesystem::path runtime;

  int capability() const { return gpu.major * 10 + gpu.minor; }  // 90
};

// auto takes a GPU if there is one, unless --gpu is given, which is for the software GPU.
Expected<Target> choose_target(const DeviceFlags& flags);
// The software GPU, for verbs that watch accesses; an error if the flags ask for another device.
Expected<Target> choose_observed_target(DeviceFlags flags);

// What a program needs in its environment to run there.
Environment environment_of(const Target& target);

// The part of a JSON record that says where it was made.
nlohmann::json record_of(const Target& target);

struct Host {
  std::string cpu;
  int cores = 0;     // this process may use
  std::string simd;  // "AVX2"
  long long memory_bytes = 0;
};
Host host();

}  // namespace ridge::tools
