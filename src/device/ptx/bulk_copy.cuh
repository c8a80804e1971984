// cp.async.bulk: a run of bytes between global and shared memory, moved by the copy engine after
// one thread has asked for it. Addresses and sizes are multiples of 16. sm_90.
#pragma once

#include "device/ptx/mbarrier.cuh"

namespace ridge::ptx {

// Counts its bytes on `barrier`, which was told to expect them.
__device__ __forceinline__ void bulk_load(void* shared, const void* global, uint32_t bytes,
                                          uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// Stores of one thread form groups, which it can wait for.
__device__ __forceinline__ void bulk_store(void* global, const void* shared, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Until at most `Pending` of this thread's groups still read their shared memory.
template <int Pending>
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

// Between ordinary writes to shared memory and a bulk copy that reads them; a block-wide barrier
// follows where other threads wrote.
__device__ __forceinline__ void fence_before_bulk_store() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace ridge::ptx
