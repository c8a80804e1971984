// The first rungs work in three launches: each block counts what it keeps, one block adds up the
// counts, and each block writes behind those before it.
#pragma once

#include "device/clear.cuh"
#include "device/lanes.cuh"
#include "device/raw.cuh"
#include "kernels/stream_compaction/stream_compaction.h"

namespace ridge::stream_compaction {

constexpr int kThreads = 256;  // and the elements of a block

inline int64_t parts_of(int64_t n) { return (n + kThreads - 1) / kThreads; }
inline size_t counts_bytes(const Args& a, const DeviceInfo&) {
  return size_t(parts_of(a.n)) * sizeof(uint32_t);
}
inline Support moves(const Args& a, const DeviceInfo&) {
  return has_raw_type(a.dtype) ? kSupported : "moves elements of 1, 2 and 4 bytes";
}
inline Status clear_count(const Args& a, cudaStream_t stream) {
  return clear_words(a.count, sizeof(int64_t) / sizeof(uint32_t), stream);
}

// The lanes below this one that keep their element.
__device__ __forceinline__ uint32_t kept_below(unsigned kept, int lane) {
  return uint32_t(__popc(kept & ((1u << lane) - 1)));
}

// One warp: counts become where each block starts, and their sum is the result's count.
static __global__ void __launch_bounds__(kWarpSize)
    compact_scan_counts(uint32_t* counts, int64_t parts, int64_t* count) {
  const int lane = int(threadIdx.x);
  uint32_t running = 0;
  for (int64_t first = 0; first < parts; first += kWarpSize) {
    const uint32_t own = first + lane < parts ? counts[first + lane] : 0;
    uint32_t through = own;
    for (int d = 1; d < kWarpSize; d *= 2) {
      const uint32_t below = __shfl_up_sync(kAllLanes, through, d);
      if (lane >= d) through += below;
    }
    if (first + lane < parts) counts[first + lane] = running + through - own;
    running += __shfl_sync(kAllLanes, through, kWarpSize - 1);
  }
  if (lane == 0) *count = running;
}

}  // namespace ridge::stream_compaction
