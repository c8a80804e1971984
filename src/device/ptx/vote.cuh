// vote.sync: what a lane has in common with the others of its warp.
#pragma once

namespace ridge::ptx {

// The lanes for which `is_set` is zero or not zero as it is for this lane. By all lanes of a warp.
// Three machine instructions and the test: written in C++, the same takes six, because the compiler
// makes a number of the test before the vote.
__device__ __forceinline__ unsigned lanes_like_this(unsigned is_set) {
  unsigned lanes;
  asm volatile(
      "{\n"
      "  .reg .pred set;\n"
      "  setp.ne.u32 set, %1, 0;\n"
      "  vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
      "  @!set not.b32 %0, %0;\n"
      "}\n"
      : "=r"(lanes)
      : "r"(is_set));
  return lanes;
}

}  // namespace ridge::ptx
