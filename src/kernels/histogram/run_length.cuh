// Runs of one bin, counted in registers: a thread touches its table only where the bin changes.
#pragma once

#include "kernels/histogram/bins.cuh"

namespace ridge::histogram {

// Add: void(uint32_t bin, uint32_t times), which ignores a bin beyond the last.
template <class Add>
struct RunLength {
  Add add;
  uint32_t bin = ~0u, times = 0;

  __device__ __forceinline__ void operator()(uint32_t next) {
    if (next != bin) {
      flush();
      bin = next;
    }
    ++times;
  }
  __device__ __forceinline__ void flush() {
    if (times) add(bin, times);
    times = 0;
  }
};
template <class Add>
__device__ RunLength(Add)->RunLength<Add>;

}  // namespace ridge::histogram
