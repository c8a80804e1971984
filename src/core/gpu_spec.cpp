#include "core/gpu_spec.h"

#include <algorithm>
#include <cctype>

namespace ridge {

// Sources: the occupancy table of the CUDA programming guide for the per-SM limits, the vendor's
// data sheets for the rest. The H200 row was read off the card.
const std::vector<GpuSpec>& all_gpus() {
  constexpr int kKiB = 1024;
  constexpr int64_t kMiB = 1024 * 1024, kGiB = 1024 * kMiB;
  static const std::vector<GpuSpec> gpus = {
      {.key = "h200",
       .name = "NVIDIA H200",
       .major = 9,
       .minor = 0,
       .sm_count = 132,
       .shared_per_sm = 228 * kKiB,
       .shared_per_block_optin = 227 * kKiB,
       .memory_bytes = 140 * kGiB,
       .l2_bytes = 60 * kMiB,
       .clock_khz = 1980000,
       .memory_clock_khz = 3201000,
       .memory_bus_bits = 6016,
       .gpcs = {16, 16, 16, 16, 16, 18, 18, 8, 2, 2, 2, 2}},
      {.key = "h100",
       .name = "NVIDIA H100 80GB HBM3",
       .major = 9,
       .minor = 0,
       .sm_count = 132,
       .shared_per_sm = 228 * kKiB,
       .shared_per_block_optin = 227 * kKiB,
       .memory_bytes = 79 * kGiB,
       .l2_bytes = 50 * kMiB,
       .clock_khz = 1980000,
       .memory_clock_khz = 2619000,
       .memory_bus_bits = 5120},
      {.key = "a100",
       .name = "NVIDIA A100-SXM4-80GB",
       .major = 8,
       .minor = 0,
       .sm_count = 108,
       .shared_per_sm = 164 * kKiB,
       .shared_per_block_optin = 163 * kKiB,
       .memory_bytes = 79 * kGiB,
       .l2_bytes = 40 * kMiB,
       .clock_khz = 1410000,
       .memory_clock_khz = 1593000,
       .memory_bus_bits = 5120,
       .fp32_lanes_per_sm = 64,
       .fp64_lanes_per_sm = 32},
      {.key = "rtx4090",
       .name = "NVIDIA GeForce RTX 4090",
       .major = 8,
       .minor = 9,
       .sm_count = 128,
       .max_threads_per_sm = 1536,
       .max_blocks_per_sm = 24,
       .shared_per_sm = 100 * kKiB,
       .shared_per_block_optin = 99 * kKiB,
       .memory_bytes = 24 * kGiB,
       .l2_bytes = 72 * kMiB,
       .clock_khz = 2520000,
       .memory_clock_khz = 10501000,
       .memory_bus_bits = 384,
       .fp64_lanes_per_sm = 2,
       .copy_engines = 2},
      {.key = "rtx3090",
       .name = "NVIDIA GeForce RTX 3090",
       .major = 8,
       .minor = 6,
       .sm_count = 82,
       .max_threads_per_sm = 1536,
       .max_blocks_per_sm = 16,
       .shared_per_sm = 100 * kKiB,
       .shared_per_block_optin = 99 * kKiB,
       .memory_bytes = 24 * kGiB,
       .l2_bytes = 6 * kMiB,
       .clock_khz = 1695000,
       .memory_clock_khz = 9751000,
       .memory_bus_bits = 384,
       .fp64_lanes_per_sm = 2,
       .copy_engines = 2},
      {.key = "t4",
       .name = "Tesla T4",
       .major = 7,
       .minor = 5,
       .sm_count = 40,
       .max_threads_per_sm = 1024,
       .max_blocks_per_sm = 16,
       .shared_per_sm = 64 * kKiB,
       .shared_per_block_optin = 64 * kKiB,
       .shared_reserved_per_block = 0,
       .memory_bytes = 15 * kGiB,
       .l2_bytes = 4 * kMiB,
       .clock_khz = 1590000,
       .memory_clock_khz = 5001000,
       .memory_bus_bits = 256,
       .fp32_lanes_per_sm = 64,
       .fp64_lanes_per_sm = 2},
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
