// graph_degree rung 01, edge_atomics: one thread per edge adds 1 to its node's counter.
//
// Stops at: the atomic unit of the L2. Lanes whose edges have the same node wait for one another,
//   and in a graph with a few large nodes that is the rule.
// Not for: graphs whose edges meet in few nodes, and sorted edge lists.
#include "device/clear.cuh"
#include "kernels/graph_degree/graph_degree.h"

namespace ridge::graph_degree::edge_atomics {

constexpr int kThreads = 256;

static __global__ void __launch_bounds__(kThreads) degrees_by_edge_atomics(Args a) {
  const int64_t e = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (e >= a.edges) return;
  const int32_t v = a.nodes[e];
  if (v >= 0 && v < a.vertices) atomicAdd(a.degrees + v, 1);
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (const Status s = clear_words(a.degrees, size_t(a.vertices), stream); !s) return s;
  if (a.edges > 0)
    degrees_by_edge_atomics<<<unsigned((a.edges + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        a);
  return launch_status();
}
constinit const Rung rung = {.idea = "one thread, one edge, one atomic",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::graph_degree::edge_atomics
