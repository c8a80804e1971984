// mbarrier: a counter in shared memory for arrivals of threads and bytes of asynchronous copies.
// When all expected arrivals and bytes are there, it completes a phase and starts the next. Those
// who wait name the phase by its parity. sm_90.
#pragma once

#include <cstdint>

namespace ridge::ptx {

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// After the last init, before a copy may signal the barrier; then a block-wide barrier where other
// threads wait on it.
__device__ __forceinline__ void mbarrier_init_done() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Arrives, and makes this phase wait for so many bytes too.
__device__ __forceinline__ void mbarrier_arrive_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
// At the same place in the shared memory of block `rank` of the cluster. It orders no ordinary
// memory accesses between blocks, as .release.cluster would: that waits for all of the thread's
// accesses, and halved the speed of a product whose consumers said so after each step.
__device__ __forceinline__ void mbarrier_arrive_at(uint64_t* barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      "  .reg .b32 there;\n"
      "  mapa.shared::cluster.u32 there, %0, %1;\n"
      "  mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// Until the phase of this parity has completed. sm_80, where there is no try_wait yet.
__device__ __forceinline__ void mbarrier_spin(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0)
    asm volatile(
        "{\n"
        "  .reg .pred complete;\n"
        "  mbarrier.test_wait.parity.shared.b64 complete, [%1], %2;\n"
        "  selp.u32 %0, 1, 0, complete;\n"
        "}\n"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
}

// Whether the phase of this parity has completed; waits a while for it first.
__device__ __forceinline__ bool mbarrier_try_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      "  .reg .pred complete;\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
      "  selp.u32 %0, 1, 0, complete;\n"
      "}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace ridge::ptx
