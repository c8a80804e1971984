// Asks the memory system to bring data into the L2 cache, and waits for nothing.
#pragma once

#include <cstdint>

namespace ridge::detail {

// `ranks` threads call it for the same range, each with its rank. Where the range is not made of
// whole sectors, its ends may stay out.
__device__ __forceinline__ void prefetch_to_l2(const void* begin, const void* end, int rank,
                                               int ranks) {
#if __CUDA_ARCH__ >= 900
  constexpr uint64_t kUnit = 16;  // of addresses and sizes of the bulk form
  if (rank != 0) return;
  const uint64_t from = (reinterpret_cast<uint64_t>(begin) + kUnit - 1) / kUnit * kUnit;
  const uint64_t to = reinterpret_cast<uint64_t>(end) / kUnit * kUnit;
  if (from < to)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(uint32_t(to - from))
                 : "memory");
#else
  constexpr int kSector = 32;
  for (const char* at = static_cast<const char*>(begin) + rank * kSector; at < end;
       at += ranks * kSector)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

}  // namespace ridge::detail
