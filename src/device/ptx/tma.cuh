// cp.async.bulk.tensor: boxes of a tensor between global and shared memory, as a tensor map
// describes them. What lies outside the tensor is read as zero and not written. sm_90.
#pragma once

#include <cuda.h>

#include "device/ptx/bulk_copy.cuh"

namespace ridge::ptx {

__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// The whole box counts on `barrier`, whatever part of it is outside. x is the fastest coordinate.
__device__ __forceinline__ void tma_load(void* shared, const CUtensorMap* map, int x, int y, int z,
                                         uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// The same for what is read once: it leaves the L2 cache before everything else does. Without this,
// a stream of reads drives out what others have written, which costs as much bandwidth as itself.
// The operand is the policy that createpolicy.fractional.L2::evict_first makes for the fraction 1.
__device__ __forceinline__ void tma_load_once(void* shared, const CUtensorMap* map, int x, int y,
                                              int z, uint64_t* barrier) {
  constexpr uint64_t kEvictFirst = 0x12f0000000000000;
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "l"(kEvictFirst)
      : "memory");
}

// As tma_load, for every block of the cluster whose bit is set in `blocks`: the box goes to the
// same place in each of their shared memories, and counts on the barrier at the same place.
__device__ __forceinline__ void tma_load_multicast(void* shared, const CUtensorMap* map, int x,
                                                   int y, int z, uint64_t* barrier,
                                                   uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}

// Joins the thread's current group, as bulk_store does.
__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* shared, int x, int y,
                                          int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
          map),
      "r"(shared_address(shared)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

}  // namespace ridge::ptx
