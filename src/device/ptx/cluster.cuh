// Blocks of one cluster: who they are, how they meet, and how they write to each other's shared
// memory. sm_90 and later; launched with cudaLaunchAttributeClusterDimension.
#pragma once

#include <cstdint>

namespace ridge {

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned cluster_size() {
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

// All threads of all blocks arrive, then wait. What they wrote to any shared memory of the cluster
// before they arrived is seen after the wait. Whole warps only.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// Orders no memory: only says that this block has started.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Writes two or four floats to where `here` is in block `rank`'s shared memory. That block must have
// started, and must not have ended.
__device__ __forceinline__ void store_in_cluster(float2* here, unsigned rank, float2 value) {
  const uint32_t address = uint32_t(__cvta_generic_to_shared(here));
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(there), "f"(value.x), "f"(value.y)
               : "memory");
}

__device__ __forceinline__ void store_in_cluster(float4* here, unsigned rank, float4 value) {
  const uint32_t address = uint32_t(__cvta_generic_to_shared(here));
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there), "f"(value.x),
               "f"(value.y), "f"(value.z), "f"(value.w)
               : "memory");
}

// Reads what is where `here` is in block `rank`'s shared memory.
__device__ __forceinline__ float4 load_from_cluster(const float4* here, unsigned rank) {
  const uint32_t address = uint32_t(__cvta_generic_to_shared(here));
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  float4 value;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(there)
               : "memory");
  return value;
}

}  // namespace ridge
