// elect.sync: one lane of a warp, for what one thread does for all. sm_90.
#pragma once

#include <cstdint>

namespace ridge::ptx {

// True in one lane. By all lanes of a warp. Unlike a comparison with the lane's number, it tells
// the compiler that one thread is left, so that operands of the copy engine stay in uniform
// registers.
__device__ __forceinline__ bool elect_one() {
  uint32_t is_elected;
  asm volatile(
      "{\n"
      "  .reg .pred elected;\n"
      "  elect.sync _|elected, 0xffffffff;\n"
      "  selp.u32 %0, 1, 0, elected;\n"
      "}\n"
      : "=r"(is_elected));
  return is_elected != 0;
}

}  // namespace ridge::ptx
