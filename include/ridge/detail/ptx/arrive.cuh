// An atomic that orders memory by itself: what the thread wrote before is seen by whoever finds the
// new value, and the other way round. Cheaper than a fence on either side of a plain one.
#pragma once

namespace ridge::detail {

__device__ __forceinline__ unsigned long long add_ordered(unsigned long long* word,
                                                          unsigned long long value) {
  unsigned long long before;
  asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(__cvta_generic_to_global(word)), "l"(value)
               : "memory");
  return before;
}

}  // namespace ridge::detail
