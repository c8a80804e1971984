// Fair timing: contestants take turns launch by launch, each with a cold L2 and its own inputs.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "core/device_info.h"
#include "core/status.h"

namespace ridge::harness {

constexpr double kShortestByEvents = 15;  // µs; under that, launch overhead shows in events

struct Timed {
  std::string name;
  // Enqueues one run on the inputs of set `set`.
  std::function<Status(int set, cudaStream_t)> launch;
};

struct TimingOptions {
  bool cold = true;            // write over the L2 before each launch
  int sets = 1;                // of inputs, taken in turn
  int least = 15, most = 200;  // samples each
  double noise = 0.01;         // stop when (q3 - q1) / median / sqrt(samples) is under this
  double seconds = 1.5;        // give up waiting for that
};

struct Timing {
  std::string name;
  std::vector<double> us;
  bool by_graph = false;  // too short for events: a replay of many launches, divided
  Status status;
};

// In the contestants' order.
std::vector<Timing> time_in_turn(const std::vector<Timed>& contestants,
                                 const TimingOptions& options, const DeviceInfo& device);

// How many sets of `bytes` it takes to leave the L2.
int sets_beyond_l2(double bytes, const DeviceInfo& device);

// Bandwidths measured here and now, in bytes per second.
struct Roofs {
  double copy = 0, read = 0, write = 0;
};
Expected<Roofs> measure_roofs(const DeviceInfo& device);

// Contestants that move as many bytes as a case, in the same mix of reads and writes, and compute
// nothing. The fastest of them is the roof of the memory at that size. None if there is not enough
// memory.
std::vector<Timed> memory_alone(double read, double written, const DeviceInfo& device);

// Clocks, temperature and power, from NVML; empty without NVML.
struct Weather {
  int sm_mhz = 0, memory_mhz = 0, celsius = 0, watts = 0;
};
Weather weather();

}  // namespace ridge::harness
