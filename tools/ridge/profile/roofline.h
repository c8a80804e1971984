// Operations counted against bytes moved, and the device's peaks for both.
#pragma once

#include "core/gpu_spec.h"
#include "profile/model.h"

namespace ridge::tools::profile {

// Floating-point operations: a fused multiply-add is two, a product of matrices what it multiplies.
double flops_of(const Instruction& instruction);
double flops_of(const Kernel& kernel);

// Two kinds of bytes, each with the rate that bounds it: DRAM has to move each sector that a launch
// touches once, at least; the L2 moves what the SMs' first caches ask for.
struct Roofline {
  double flops = 0;
  double dram_bytes = 0, l2_bytes = 0;
  double peak_flops = 0;  // per second, of the pipe that does most of them
  double dram_rate = 0;   // bytes per second
  double l2_rate = 0;
  const char* format = "FP32";  // which pipe that is: "FP64", "tensor"
  bool checked = false;         // whether the rates were checked on this card
};
Roofline roofline_of(const Kernel& kernel, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
