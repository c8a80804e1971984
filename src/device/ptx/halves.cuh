// prmt.b32, in the one mode that __byte_perm leaves out: it copies the sign of a byte.
#pragma once

#include <cstdint>

namespace ridge::ptx {

// Each half of the word: all its bits are its highest one.
__device__ __forceinline__ uint32_t signs_of_halves(uint32_t word) {
  uint32_t signs;
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(signs) : "r"(word));
  return signs;
}

}  // namespace ridge::ptx
