// Bulk copies and mbarriers, one instruction each.
#pragma once

#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

#define INIT(barrier, arrivals)                                                                      \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) \
               : "memory")
#define FENCE_INIT() asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")
#define ARRIVE(barrier) \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory")
#define EXPECT(barrier, bytes)                                                                                \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) \
               : "memory")
#define LOAD(to, from, bytes, barrier)                                                                     \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                   shared_address(to)),                                                                    \
               "l"(from), "r"(bytes), "r"(shared_address(barrier))                                         \
               : "memory")
#define STORE(to, from, bytes)                                                                       \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),              \
               "r"(shared_address(from)), "r"(bytes)                                                 \
               : "memory")
#define COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_READ(newest) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(newest) : "memory")
#define WAIT_WRITTEN(newest) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(newest) : "memory")
#define FENCE_PROXY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define WAIT(barrier, parity)                                                                           \
  for (uint32_t done = 0; !done;)                                                                       \
  asm volatile(                                                                                         \
      "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"     \
      : "=r"(done)                                                                                      \
      : "r"(shared_address(barrier)), "r"(parity)                                                       \
      : "memory")
