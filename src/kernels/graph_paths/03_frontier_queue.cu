// graph_paths rung 03, frontier_queue: the nodes that change are put into a queue, and the next
// round takes them from there.
//
// Since 02_node_parallel: a round touches only the nodes that changed, however large the graph
//   is. The lanes of a warp that have found a node share one atomic for their places in the
//   queue.
// Stops at: the node with the most edges, which one thread walks along while its warp waits.
// Not for: graphs whose nodes have very different numbers of edges.
#include "kernels/graph_paths/queue.cuh"

namespace ridge::graph_paths::frontier_queue {

static __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    paths_frontier_queue(Args a, Memory memory) {
  const Queues queues(a, memory);
  each_round(memory.shared, [&](uint32_t number, uint32_t nodes, uint32_t* count) {
    const uint32_t threads = gridDim.x * kThreads;
    const uint32_t lane = threadIdx.x % kWarpSize;
    // Whole warps, because all lanes append together.
    for (uint32_t first = blockIdx.x * kThreads + threadIdx.x - lane; first < nodes;
         first += threads) {
      int64_t e = 0, end = 0;
      uint32_t from = 0;
      if (first + lane < nodes) {
        const uint32_t v = queued_node(a, queues, number, first + lane);
        from = load_fresh(a.distances + v);
        e = a.offsets[v];
        end = a.offsets[v + 1];
      }
      for (; __any_sync(kAllLanes, e < end); ++e)
        queues.append(number + 1, count, e < end ? relax(a, e, from) : -1);
    }
  });
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status s = launch_start(a, a.vertices, stream); !s) return s;
  if (a.edges == 0) return Status::ok();
  return launch_rounds(paths_frontier_queue, a, a.vertices, device, stream);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return Memory::bytes(queue_words(a)); }
constinit const Rung rung = {.idea = "a queue of the nodes that changed",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::graph_paths::frontier_queue
