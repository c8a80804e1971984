// Queues of the nodes that changed: one that a round reads, and one that it fills for the next.
#pragma once

#include "kernels/graph_paths/rounds.cuh"

namespace ridge::graph_paths {

// words: (vertices), the round for which a node was queued last, so that it is queued once; then
// two queues of (vertices).
struct Queues {
  uint32_t *queued, *first;
  int64_t vertices;

  __device__ __forceinline__ Queues(const Args& a, const Memory& memory)
      : queued(memory.words), first(memory.words + a.vertices), vertices(a.vertices) {}
  __device__ __forceinline__ uint32_t* of(uint32_t round) const {
    return first + (round & 1) * vertices;
  }
  // Whether this thread is the one that queues the node for the round.
  __device__ __forceinline__ bool claims(int32_t node, uint32_t round) const {
    return node >= 0 && atomicMax(queued + node, round) < round;
  }
  // All lanes of the warp: those with a node append it, with one atomic for all of them.
  __device__ __forceinline__ void append(uint32_t round, uint32_t* count, int32_t node) const {
    const bool has = claims(node, round);
    const unsigned lanes = __ballot_sync(kAllLanes, has);
    if (lanes == 0) return;
    const int lane = threadIdx.x % kWarpSize, leader = __ffs(int(lanes)) - 1;
    uint32_t place = 0;
    if (lane == leader) place = atomicAdd(count, uint32_t(__popc(lanes)));
    place = __shfl_sync(kAllLanes, place, leader) + uint32_t(__popc(lanes & ((1u << lane) - 1)));
    if (has) store_fresh(of(round) + place, uint32_t(node));
  }
};
inline int64_t queue_words(const Args& a) { return 3 * a.vertices; }

// The first round has the source.
__device__ __forceinline__ uint32_t queued_node(const Args& a, const Queues& queues, uint32_t round,
                                                uint32_t i) {
  return round == 0 ? uint32_t(a.source) : load_fresh(queues.of(round) + i);
}

}  // namespace ridge::graph_paths
