// cp.async: from global to shared memory without registers between. A thread's copies form groups,
// which it can wait for. sm_80.
#pragma once

#include <cstdint>

namespace ridge::ptx {

// 4 bytes, or 16 at multiples of 16. If not `is_there`, zeros are written and nothing is read.
__device__ __forceinline__ void copy_async_4(void* shared, const void* global, bool is_there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   uint32_t(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(is_there ? 4 : 0)
               : "memory");
}
__device__ __forceinline__ void copy_async_16(void* shared, const void* global, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   uint32_t(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(is_there ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(uint32_t(__cvta_generic_to_shared(shared))),
      "l"(global)
      : "memory");
}
__device__ __forceinline__ void commit_async_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until at most `Pending` of this thread's groups are still under way.
template <int Pending>
__device__ __forceinline__ void wait_for_async_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

}  // namespace ridge::ptx
