// A ring of stages in shared memory, between a thread that asks the copy engine for tiles and
// warpgroups that multiply them. Stage and phase go on from tile to tile of the result.
#pragma once

#include "device/ptx/mbarrier.cuh"

namespace ridge {

template <int kStages>
struct Ring {
  uint64_t full[kStages];   // completes when the bytes of a stage have arrived
  uint64_t empty[kStages];  // completes when everybody has read the stage

  // By one thread; then a barrier of the block, or of the cluster.
  __device__ __forceinline__ void init(uint32_t readers) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], readers);
    }
    ptx::mbarrier_init_done();
  }
};

template <int kStages>
struct RingPlace {
  int stage = 0;
  uint32_t phase = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ __forceinline__ void skip(int steps) {
    stage += steps;
    phase ^= uint32_t(stage / kStages) & 1;
    stage %= kStages;
  }
};

}  // namespace ridge
