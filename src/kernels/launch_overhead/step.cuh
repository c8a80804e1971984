// One step, as a kernel of its own.
#pragma once

#include "kernels/launch_overhead/launch_overhead.h"

namespace ridge::launch_overhead {

// Goes through memory in every step, as it must if each step is a kernel.
__device__ __forceinline__ void count_up(volatile uint32_t* counters) {
  counters[threadIdx.x] = counters[threadIdx.x] + 1;
}
__global__ void __launch_bounds__(kCounters) step(uint32_t* counters) { count_up(counters); }

inline Status launch_steps(const Args& a, int64_t steps, cudaStream_t stream) {
  for (int64_t s = 0; s < steps; ++s) {
    step<<<1, kCounters, 0, stream>>>(a.counters);
    if (const Status launched = launch_status(); !launched) return launched;
  }
  return Status::ok();
}
constexpr Support counts(const Args& a) {
  return a.dtype == Dtype::u32 ? kSupported : "counters are u32";
}

}  // namespace ridge::launch_overhead
