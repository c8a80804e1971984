// A number of which the compiler forgets how it came about.
#pragma once

namespace ridge::ptx {

// In a loop, what follows from the result is computed in every iteration. Without this, the
// compiler computes it once before the loop and keeps it, also where it then has to spill
// registers.
__device__ __forceinline__ int opaque(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

}  // namespace ridge::ptx
