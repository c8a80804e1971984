// A kernel that begins while the one before it in the stream ends (programmatic dependent launch):
// its blocks take an SM as soon as it is free, and prepare what needs no memory. sm_90.
#pragma once

#include <cuda_runtime_api.h>

namespace ridge::ptx {

// Until the kernels before this one are complete, and what they wrote is visible. By all threads,
// before they read or write global memory.
__device__ __forceinline__ void wait_for_kernels_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
// The next kernel may begin as soon as all blocks have said so.
__device__ __forceinline__ void let_next_kernel_begin() {
  asm volatile("griddepcontrol.launch_dependents;");
}

}  // namespace ridge::ptx
