// Asks the memory system to bring data into the L2 cache, and waits for nothing.
#pragma once

#include <cstdint>

namespace ridge::detail {

// All threads of a one-dimensional block call it for the same range. Where the range is not made of
// whole sectors, its ends may stay out.
__device__ __forceinline__ void prefetch_to_l2(const void* begin, const void* end) {
#if __CUDA_ARCH__ >= 900
  constexpr uint64_t kUnit = 16;  // of addresses and sizes of the bulk form
  if (threadIdx.x != 0) return;
  const uint64_t from = (reinterpret_cast<uint64_t>(begin) + kUnit - 1) / kUnit * kUnit;
  const uint64_t to = reinterpret_cast<uint64_t>(end) / kUnit * kUnit;
  if (from < to)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(uint32_t(to - from))
                 : "memory");
#else
  constexpr int kSector = 32;
  for (const char* at = static_cast<const char*>(begin) + threadIdx.x * kSector; at < end;
       at += blockDim.x * kSector)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

}  // namespace ridge::detail
