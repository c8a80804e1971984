// graph_paths rung 04, warp_per_node: the lanes of a warp share the edges of a node.
//
// Since 03_frontier_queue: neighbouring lanes read neighbouring edges, and a node with many edges
//   takes a warp and not a thread, so the others of its warp do not wait for it.
// Stops at: latency: a node's place, its edges and their ends are loads that wait for one
//   another.
// Not for: graphs whose nodes have only a few edges each, such as grids: most lanes have none
//   (03).
#include "kernels/graph_paths/queue.cuh"
#include "select/select.h"

namespace ridge::graph_paths::warp_per_node {

// Modelled; to be replaced by a rate measured on an H200.
constexpr Tuned kTuned = {40.0, 0.10};

static __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    paths_warp_per_node(Args a, Memory memory) {
  const Queues queues(a, memory);
  each_round(memory.shared, [&](uint32_t number, uint32_t nodes, uint32_t* count) {
    const uint32_t warps = gridDim.x * (kThreads / kWarpSize);
    const int lane = threadIdx.x % kWarpSize;
    for (uint32_t i = (blockIdx.x * kThreads + threadIdx.x) / kWarpSize; i < nodes; i += warps) {
      const uint32_t v = queued_node(a, queues, number, i);
      const uint32_t from = load_fresh(a.distances + v);
      const int64_t end = a.offsets[v + 1];
      for (int64_t first = a.offsets[v]; first < end; first += kWarpSize) {
        const int64_t e = first + lane;
        queues.append(number + 1, count, e < end ? relax(a, e, from) : -1);
      }
    }
  });
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status s = launch_start(a, a.vertices, stream); !s) return s;
  if (a.edges == 0) return Status::ok();
  return launch_rounds(paths_warp_per_node, a, a.vertices * kWarpSize, device, stream);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return Memory::bytes(queue_words(a)); }
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "one warp for the edges of a node",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::graph_paths::warp_per_node
