// How many blocks of a kernel fit on one SM at a time, and what keeps out the next one.
#pragma once

#include <cstdint>

#include "core/gpu_spec.h"

namespace ridge {

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxRegistersPerThread = 255;
inline constexpr int kMaxRegistersPerBlock = 65536;
inline constexpr int kSharedPerBlock = 48 * 1024;  // without asking for more

struct KernelResources {
  int block_threads = 0;
  int registers_per_thread = 0;
  int64_t shared_bytes = 0;  // static and dynamic, without what the system reserves
};

enum class Limiter : uint8_t { threads, blocks, registers, shared, does_not_fit };

struct Occupancy {
  int blocks_per_sm = 0;
  int warps_per_sm = 0;
  double fraction = 0;  // of the SM's warp slots
  Limiter limiter = Limiter::does_not_fit;
};

// The four limits apart: blocks one SM could hold if only this resource were short.
int blocks_by_threads(const GpuSpec& gpu, int block_threads);
int blocks_by_registers(const GpuSpec& gpu, int block_threads, int registers_per_thread);
int blocks_by_shared(const GpuSpec& gpu, int64_t shared_bytes);  // up to the opt-in limit

// The smallest of the four; of equal limits the one listed first in Limiter.
Occupancy occupancy(const GpuSpec& gpu, const KernelResources& kernel);

// Clusters of so many blocks that are resident on the whole device at a time, by the formula that
// an H200's answers follow (docs/hopper_facts.md).
int active_clusters(const GpuSpec& gpu, int blocks_per_sm, int cluster_size);

const char* to_string(Limiter limiter);

}  // namespace ridge
