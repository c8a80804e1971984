// What keeps a kernel busy longest, by a plain model of an SM: how many cycles each of its parts
// would need for what was counted, if nothing else held it up.
#pragma once

#include <array>
#include <cstdint>

#include "core/gpu_spec.h"
#include "profile/model.h"

namespace ridge::tools::profile {

enum class Part : uint8_t {
  global_loads,
  global_stores,
  atomics,
  local,
  shared,
  fp32,
  fp64,
  special,
  tensor,
  issue,
};
inline constexpr size_t kParts = 10;
const char* name_of(Part part);  // "global loads"

struct Costs {
  std::array<double, kParts> cycles = {};  // of one SM, all blocks together

  double of(Part part) const { return cycles[size_t(part)]; }
  Part longest() const;
  double sum() const;
  Costs& operator+=(const Costs& other);
};

Costs cost_of(const Instruction& instruction, const GpuSpec& gpu);
Costs cost_of(const Kernel& kernel, const GpuSpec& gpu);

// Fills in every line's cost, and sorts them by it.
void rank_lines(Kernel& kernel, const GpuSpec& gpu);

// Floating-point operations: a fused multiply-add is two, a product of matrices what it multiplies.
double flops_of(const Instruction& instruction);
double flops_of(const Kernel& kernel);

struct Roofline {
  double flops = 0;
  double bytes = 0;       // between L1 and the rest: sectors
  double bytes_used = 0;  // of those
  double peak_flops = 0;  // a second, FP32 (FP64 where that is most of it)
  double peak_bytes = 0;  // a second, of memory
  bool fp64 = false;
};
Roofline roofline_of(const Kernel& kernel, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
