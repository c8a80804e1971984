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
__device__ __forceinline__ void copy_async_4(void* shared, const void* global) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(uint32_t(__cvta_generic_to_shared(shared))),
      "l"(global)
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
// 16 bytes, of which the first `bytes` are read; zeros are written in place of the others.
__device__ __forceinline__ void copy_async_part(void* shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   uint32_t(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(bytes)
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

// The same for all lanes of a warp, which then arrives once at an mbarrier. One piece, because the
// compiler would put off the arrival.
template <int Pending>
__device__ __forceinline__ void arrive_after_copies(uint64_t* barrier) {
  asm volatile(
      "{\n"
      "  .reg .pred leads;\n"
      "  .reg .b64 state;\n"
      "  setp.eq.u32 leads, %1, 0;\n"
      "  cp.async.wait_group %2;\n"
      "  bar.warp.sync 0xffffffff;\n"
      "  @leads mbarrier.arrive.shared.b64 state, [%0];\n"
      "}\n" ::"r"(uint32_t(__cvta_generic_to_shared(barrier))),
      "r"(threadIdx.x % 32), "n"(Pending)
      : "memory");
}

}  // namespace ridge::ptx
