// Shortest paths from one node of a graph in compressed rows (CSR): the edges of node v are
// targets[offsets[v]] … targets[offsets[v + 1] - 1].
//   bfs    distances[v] = edges on the shortest path from `source` to v; -1: there is none
//   sssp   the same with the sum of the edges' weights, none of them negative; infinity: none
//
// Both are kept as unsigned words: -1 is the largest word, and floats that are not negative are in
// the order of their bits. So one atomicMin serves both.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::graph_paths {

struct Args {
  const int32_t* offsets = nullptr;  // (vertices + 1)
  const int32_t* targets = nullptr;  // (edges)
  const float* weights = nullptr;    // (edges); null: bfs
  uint32_t* distances = nullptr;     // (vertices): i32 or f32
  int32_t source = 0;
  int64_t vertices = 0, edges = 0;
  void* workspace = nullptr;  // see rounds.cuh
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

// Each edge once, and each node's distance and place once.
inline double bytes(const Args& a) {
  return double(a.edges) * (a.weights ? 8 : 4) + double(a.vertices) * 8;
}

}  // namespace ridge::graph_paths
