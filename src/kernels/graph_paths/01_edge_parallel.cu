// graph_paths rung 01, edge_parallel: in every round, one thread per edge tries whether the edge
// is a shorter way to its end.
//
// Stops at: rounds times edges. Each round reads every edge, and most of them lead from nodes
//   that are not reached yet, or that have not changed. The first launch makes an edge list: the
//   node that each edge starts from.
// Not for: graphs with long paths, such as roads and grids. In a few rounds over a graph whose
//   nodes have very different numbers of edges it does well, since every thread has one edge.
#include "kernels/graph_paths/rounds.cuh"

namespace ridge::graph_paths::edge_parallel {

// words: (edges), the node that each edge starts from.
static __global__ void __launch_bounds__(kThreads) list_edges(Args a, Memory memory) {
  const int64_t v = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (v >= a.vertices) return;
  for (int64_t e = a.offsets[v]; e < a.offsets[v + 1]; ++e) memory.words[e] = uint32_t(v);
}

static __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    paths_edge_parallel(Args a, Memory memory) {
  const uint32_t unreached = a.weights ? kInfinity : kNowhere;
  each_round(memory.shared, [&](uint32_t, uint32_t, uint32_t* count) {
    bool changed = false;
    const int64_t threads = int64_t(gridDim.x) * kThreads;
    for (int64_t e = int64_t(blockIdx.x) * kThreads + threadIdx.x; e < a.edges; e += threads) {
      const uint32_t from = load_fresh(a.distances + memory.words[e]);
      if (from != unreached) changed |= relax(a, e, from) >= 0;
    }
    tell_changed(count, changed);
  });
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status s = launch_start(a, 0, stream); !s) return s;
  if (a.edges == 0) return Status::ok();
  list_edges<<<unsigned((a.vertices + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a,
                                                                                        Memory(a));
  return launch_rounds(paths_edge_parallel, a, a.edges, device, stream);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return Memory::bytes(a.edges); }
constinit const Rung rung = {.idea = "every edge in every round",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::graph_paths::edge_parallel
