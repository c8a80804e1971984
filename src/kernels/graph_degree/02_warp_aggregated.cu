// graph_degree rung 02, warp_aggregated: lanes with the same node agree on one of them, which
// adds their number.
//
// Since 01_edge_atomics: match.any finds the lanes with the same node, so a node costs a warp one
//   atomic, however many of its lanes have an edge of it. In a sorted list that is one for 32
//   edges.
// Stops at: match.any, which takes one step for each different node among the lanes.
// Not for: graphs in which two of 32 edges rarely share a node: there it only adds the match.
#include "device/clear.cuh"
#include "device/lanes.cuh"
#include "kernels/graph_degree/graph_degree.h"
#include "select/select.h"

namespace ridge::graph_degree::warp_aggregated {

constexpr Tuned kTuned = {5.0, 0.40};  // modelled; to be replaced by a rate measured on an H200
constexpr int kThreads = 256, kPerThread = 4;

static __global__ void __launch_bounds__(kThreads) degrees_by_warps(Args a) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t first = int64_t(blockIdx.x) * kThreads * kPerThread + threadIdx.x;
  int32_t nodes[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int64_t e = first + k * kThreads;
    nodes[k] = e < a.edges ? a.nodes[e] : -1;
  }
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const unsigned alike = __match_any_sync(kAllLanes, nodes[k]);
    const bool is_first = (alike & ((1u << lane) - 1)) == 0;
    if (is_first && nodes[k] >= 0 && nodes[k] < a.vertices)
      atomicAdd(a.degrees + nodes[k], __popc(alike));
  }
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (const Status s = clear_words(a.degrees, size_t(a.vertices), stream); !s) return s;
  const int64_t blocks = (a.edges + kThreads * kPerThread - 1) / (kThreads * kPerThread);
  if (a.edges > 0) degrees_by_warps<<<unsigned(blocks), kThreads, 0, stream>>>(a);
  return launch_status();
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "one atomic for all lanes with the same node",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::graph_degree::warp_aggregated
