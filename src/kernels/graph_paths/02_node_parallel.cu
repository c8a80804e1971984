// graph_paths rung 02, node_parallel: in every round, one thread per node walks along the node's
// edges, if the node changed in the round before.
//
// Since 01_edge_parallel: edges of nodes that did not change are not read; a node's word says in
//   which round it changed. No edge list is needed.
// Stops at: the node with the most edges, which one thread walks along while its warp waits;
//   every round still looks at every node.
// Not for: graphs whose nodes have very different numbers of edges.
#include "kernels/graph_paths/rounds.cuh"

namespace ridge::graph_paths::node_parallel {

// words: (vertices), the last round in which the node changed, counted from 1; the source has a 0
// and is told by its number.
static __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    paths_node_parallel(Args a, Memory memory) {
  each_round(memory.shared, [&](uint32_t number, uint32_t, uint32_t* count) {
    bool changed = false;
    const int64_t threads = int64_t(gridDim.x) * kThreads;
    for (int64_t v = int64_t(blockIdx.x) * kThreads + threadIdx.x; v < a.vertices; v += threads) {
      const uint32_t since = load_fresh(memory.words + v);
      // A node may change in this round before its thread comes to it. Then it is done now, and
      // once more in the next round.
      const bool is_new = number == 0 ? v == a.source : since >= number;
      if (!is_new) continue;
      const uint32_t from = load_fresh(a.distances + v);
      for (int64_t e = a.offsets[v]; e < a.offsets[v + 1]; ++e) {
        const int32_t to = relax(a, e, from);
        if (to < 0) continue;
        store_fresh(memory.words + to, number + 1);
        changed = true;
      }
    }
    tell_changed(count, changed);
  });
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status s = launch_start(a, a.vertices, stream); !s) return s;
  if (a.edges == 0) return Status::ok();
  return launch_rounds(paths_node_parallel, a, a.vertices, device, stream);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return Memory::bytes(a.vertices); }
constinit const Rung rung = {.idea = "the edges of nodes that changed, one thread per node",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::graph_paths::node_parallel
