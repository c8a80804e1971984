// How long a kernel takes and what holds it up, by a plain model: how many cycles each part of the
// GPU needs for what was counted. It is for comparing lines and changes with each other; caches and
// the order of instructions are not in it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/gpu_spec.h"
#include "model/figures.h"
#include "profile/model.h"

namespace ridge::tools::profile {

enum class Part : uint8_t {
  dram,     // each sector that a launch touches, once
  l2,       // sectors that an SM's first cache cannot keep
  l1,       // lines of global and local memory that the first cache looks up
  atomics,  // reductions and atomics on global memory
  shared,   // wavefronts
  fp32,     // the pipes
  fp64,
  special,
  tensor,
  issue,    // warp instructions
  latency,  // what one warp waits for its own results
};
inline constexpr size_t kParts = 11;
const char* name_of(Part part);  // "shared memory"

// Cycles of one SM for the work of all blocks; `dram` and atomics on one address are the whole
// GPU's, and `latency` is summed over all warps.
struct Work {
  std::array<double, kParts> cycles = {};

  double& operator[](Part part) { return cycles[size_t(part)]; }
  double operator[](Part part) const { return cycles[size_t(part)]; }
  Work& operator+=(const Work& other);
  Work& operator-=(const Work& other);  // never below zero
  Work operator*(double factor) const;
};

// What the instructions of a kernel ask for; parallel to its instructions.
std::vector<Work> work_of(const Kernel& kernel, const GpuSpec& gpu);
Work sum_of(const std::vector<Work>& works);

// How a launch spreads over the GPU.
struct Spread {
  uint64_t launches = 1, blocks = 1;  // blocks: of one launch
  double sms = 1;                     // that have a block
  double busiest = 1;                 // the largest share of the work that one SM has
  double waves = 1;                   // of blocks on that SM, one after the other
  double warps = 1;                   // of all launches

  static Spread of(const Kernel& kernel, const GpuSpec& gpu);
};

// Cycles from start to end. Parts work side by side, though never quite: the longest one counts in
// full, the others by a quarter.
struct Time {
  std::array<double, kParts> cycles = {};

  double of(Part part) const { return cycles[size_t(part)]; }
  Part longest() const;
  double weight(Part part) const;
  double total() const;
};
Time time_of(const Work& work, const Spread& spread);
Time time_of(const Kernel& kernel, const GpuSpec& gpu);

// Fills in every line's cost, which is its part of the time, and sorts the lines by it.
void rank_lines(Kernel& kernel, const GpuSpec& gpu);

// What the tensor cores of an SM do of a product in one cycle; `all`: at most, which takes wgmma on
// Hopper, or else what mma.sync reaches.
double tensor_ops_per_cycle(const Instruction& one, const model::Figures& figures, bool all);
// The unit that executes an instruction: "fp64".
std::string_view unit_of(const Instruction& one);
// Whether local memory is only in the PTX: ptxas has found registers for all of it.
bool is_local_in_registers(const Kernel& kernel);

}  // namespace ridge::tools::profile
