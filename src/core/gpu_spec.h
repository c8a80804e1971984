// The numbers that make one GPU different from another, as far as a program can ask for them. One
// entry per GPU in gpus.json; `ridge run --gpu NAME` picks one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ridge {

struct GpuSpec {
  std::string_view key;   // "h200"
  std::string_view name;  // "NVIDIA H200"
  int major = 9, minor = 0;
  int sm_count = 0;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int registers_per_sm = 65536;
  int shared_per_sm = 0;           // bytes, all of it
  int shared_per_block_optin = 0;  // bytes
  int shared_reserved_per_block = 1024;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int clock_khz = 0;  // boost
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int fp32_lanes_per_sm = 128;
  int fp64_lanes_per_sm = 64;
  int copy_engines = 3;
  // Multiprocessors of each GPC, the parts of the chip that a cluster must fit into; none: not
  // known, and taken to be 16 each.
  std::array<uint8_t, 12> gpcs = {};
};

const std::vector<GpuSpec>& all_gpus();
std::optional<GpuSpec> find_gpu(std::string_view key);  // case-insensitive

}  // namespace ridge
