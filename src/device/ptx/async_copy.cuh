// cp.async: 16 bytes from global to shared memory without a register in between, so that a thread
// can have any number of them under way. Both addresses are multiples of 16. sm_80.
#pragma once

#include "device/ptx/mbarrier.cuh"

namespace ridge::ptx {

// Past the L1, which would keep what nobody reads twice.
__device__ __forceinline__ void async_copy_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)),
               "l"(global)
               : "memory");
}
// Until all that this thread has asked for is there; a block-wide barrier follows where other
// threads read it.
__device__ __forceinline__ void async_copy_wait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace ridge::ptx
